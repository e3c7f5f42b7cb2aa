/// A bug as the answers have it.
struct Bug: Codable, Sendable {
  let id: Int
  var title: String
  var state: State
  var assignee: User?
  /// As in `2020-05-01T12:00:00Z`, so that the order of the texts is that of the times.
  let createdAt: String
  /// The revision of the tracker in which the bug was last changed.
  var version: Int

  enum State: String, Codable, Sendable { case open, closed }

  enum CodingKeys: String, CodingKey {
    case id, title, state, assignee, version
    case createdAt = "created_at"
  }

  var tag: String { "\"\(version)\"" }
}

/// Somebody who works on bugs.
struct User: Codable, Sendable {
  let id: Int
  let login: String
  let name: String

  static let all = [
    User(id: 1, login: "ada", name: "Ada Lovelace"), User(id: 2, login: "alan", name: "Alan Turing"),
    User(id: 3, login: "barbara", name: "Barbara Liskov"), User(id: 4, login: "donald", name: "Donald Knuth"),
    User(id: 5, login: "edsger", name: "Edsger Dijkstra"), User(id: 6, login: "grace", name: "Grace Hopper"),
    User(id: 7, login: "john", name: "John McCarthy"), User(id: 8, login: "katherine", name: "Katherine Johnson"),
  ]
}
