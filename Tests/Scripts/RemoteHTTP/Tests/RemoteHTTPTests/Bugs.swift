import Foundation
import RemoteHTTP
import RemoteIncrementalStore

/// Bugs with reporters, comments and labels.
func bugs(at url: URL, _ change: (inout HTTPDescription) -> Void = { _ in }) -> HTTPDescription {
  var bug = HTTPEntity(
    "Bug", path: "/bugs",
    attributes: [
      "title": "title", "votes": "stats.votes", "created": .date("created_at", isReadOnly: true),
      "price": HTTPAttribute("price", kind: .decimal), "isOpen": "open", "photo": HTTPAttribute("photo", kind: .data),
    ],
    relationships: [
      "reporter": .toOne("User", key: "user", sentKey: "user_id"),
      "labels": .toMany("Label", key: "labels", sentKey: "labels", addedKey: "add_labels", removedKey: "remove_labels"),
      "comments": .toMany("Comment", key: "comments", path: "/bugs/{id}/comments"),
    ])
  bug.hasNumericIdentifiers = true
  bug.filters = ["isOpen": "open", "reporter": "user"]
  bug.orders = ["created": "created_at", "title": "title"]
  var user = HTTPEntity("User", path: "/users", attributes: ["name": "profile.name"])
  user.hasNumericIdentifiers = true
  var label = HTTPEntity("Label", attributes: ["color": "color"])
  label.identifierKey = "name"
  let comment = HTTPEntity("Comment", attributes: ["text": "text"])
  var description = HTTPDescription(baseURL: url, entities: [bug, user, label, comment])
  description.timeLimit = .seconds(30)
  change(&description)
  return description
}

extension HTTPDescription {
  /// One of the entities.
  subscript(name: String) -> HTTPEntity {
    get { entities.first { $0.name == name }! }
    set { entities[entities.firstIndex { $0.name == name }!] = newValue }
  }
}

let bug17 = RemoteIdentifier("Bug", "17")

/// The failure that something throws; nil if it throws none.
func failure(of body: () async throws -> Void) async throws -> RemoteFailure? {
  do {
    try await body()
    return nil
  } catch let failure as RemoteFailure {
    return failure
  }
}
