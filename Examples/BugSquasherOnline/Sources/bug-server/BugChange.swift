/// What the body of a `POST` or a `PATCH` says.
struct BugChange: Decodable {
  let title: String?
  let state: String?
  /// Nil if the body does not name it.
  let assigneeID: Int??

  enum CodingKeys: String, CodingKey {
    case title, state
    case assigneeID = "assignee_id"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: CodingKeys.self)
    title = try body.decodeIfPresent(String.self, forKey: .title)
    state = try body.decodeIfPresent(String.self, forKey: .state)
    assigneeID = body.contains(.assigneeID) ? .some(try body.decodeIfPresent(Int.self, forKey: .assigneeID)) : nil
  }

  /// - Throws: the answer 422 if the bug would not be a valid one.
  func apply(to bug: inout Bug) throws {
    bug.title = title ?? bug.title
    guard 1...200 ~= bug.title.count else { throw Answer.invalid("A title has 1 to 200 characters.") }
    if let state {
      guard let state = Bug.State(rawValue: state) else { throw Answer.invalid("A bug is open or closed.") }
      bug.state = state
    }
    if let assigneeID {
      bug.assignee = User.all.first { $0.id == assigneeID }
      guard assigneeID == nil || bug.assignee != nil else { throw Answer.invalid("There is no such user.") }
    }
  }
}
