import ArgumentParser
import CoreData

/// What a user calls a bug: its number, or while it has none the last part of its identifier here, as in `p17`.
enum BugName: ExpressibleByArgument, CustomStringConvertible {
  case number(Int64)
  case unsent(String)

  init?(argument: String) {
    if let number = Int64(argument) {
      self = .number(number)
    } else if argument.first == "p", argument.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) {
      self = .unsent(argument)
    } else {
      return nil
    }
  }

  init(_ bug: Bug) {
    self = bug.number.map { .number($0.int64Value) } ?? .unsent(bug.objectID.uriRepresentation().lastPathComponent)
  }

  var description: String {
    switch self {
    case .number(let number): "\(number)"
    case .unsent(let name): name
    }
  }
}

enum BugState: String, ExpressibleByArgument, CaseIterable { case open, closed }
