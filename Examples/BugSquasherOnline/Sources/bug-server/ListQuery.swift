import Foundation
import Hummingbird

/// What the parameters of a list say.
struct ListQuery: Sendable {
  enum Order: String { case created = "created_at", title }

  var state: Bug.State?
  var assignee: String?
  var ids: [Int]?
  var order = Order.created
  var isDescending = false
  var count = 100
  /// The last bug of the page before.
  var after: SortedIndex<String>.Entry?
  private var parameters: [(name: String, value: String)] = []

  /// - Throws: the answer 400 for a value that makes no sense.
  init(_ request: Request) throws {
    for (name, value) in request.uri.queryParameters {
      let (name, value) = (String(name), String(value))
      guard try read(name, value) else { throw Answer.error(400, "\(value) is no value of \(name).") }
      if name != "after" { parameters.append((name, value)) }
    }
  }

  /// Returns whether the value makes sense. Other parameters are ignored.
  private mutating func read(_ name: String, _ value: String) throws -> Bool {
    switch name {
    case "state":
      state = Bug.State(rawValue: value)
      return state != nil
    case "assignee": assignee = value
    case "ids":
      let numbers = value.split(separator: ",").map { Int($0) }
      ids = numbers.compactMap { $0 }
      return ids?.count == numbers.count
    case "order":
      isDescending = value.hasPrefix("-")
      guard let order = Order(rawValue: String(value.drop { $0 == "-" })) else { return false }
      self.order = order
    case "per_page":
      guard let count = Int(value), count > 0 else { return false }
      self.count = min(count, 500)
    case "after":
      let parts = value.split(separator: ",", maxSplits: 1).map(String.init)
      guard parts.count == 2, let id = Int(parts[0]) else { return false }
      after = .init(key: parts[1], id: id)
    default: break
    }
    return true
  }

  func matches(_ bug: Bug) -> Bool {
    (state == nil || bug.state == state) && (assignee == nil || bug.assignee?.login == assignee)
  }

  /// The path of the page behind a bug.
  func path(after key: String, _ id: Int) -> String {
    let all = parameters + [("after", "\(id),\(key)")]
    return "/bugs?" + all.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
