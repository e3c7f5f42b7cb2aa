import Foundation
import RemoteHTTP

/// Where the server has its objects, and what their JSON means.
func backend(at url: URL) -> HTTPDescription {
  var bug = HTTPEntity(
    "Bug", path: "/bugs",
    attributes: [
      "number": HTTPAttribute("id", isReadOnly: true), "title": "title", "state": "state",
      "created": .date("created_at", isReadOnly: true),
    ],
    relationships: ["assignee": .toOne("User", key: "assignee", sentKey: "assignee_id")])
  bug.hasNumericIdentifiers = true
  bug.versionKey = "version"
  bug.filters = ["state": "state", "assignee.login": "assignee", "number": "ids"]
  bug.orders = ["created": "created_at", "title": "title"]
  bug.identifiersParameter = "ids"
  var user = HTTPEntity("User", path: "/users", attributes: ["login": "login", "name": "name"])
  user.hasNumericIdentifiers = true
  var backend = HTTPDescription(baseURL: url, entities: [bug, user])
  backend.paging = .link
  backend.pageSizeParameter = "per_page"
  backend.ordering = .signs(parameter: "order")
  backend.feed = HTTPFeed(path: "/changes", moreKey: "more", records: ["Bug": "bugs"], deleted: ["Bug": "deleted"])
  backend.repeating = .keys
  return backend
}
