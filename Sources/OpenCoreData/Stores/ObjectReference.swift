import Foundation

/// What tells one object of an entity from the others.
enum ObjectReference: Hashable {
  /// The process has numbered it; no store knows it yet.
  case temporary(UInt64)
  case integer(Int64)
  case string(String)

  /// What a store refers to its object by: a whole number or a string; anything else, and a number beyond `Int64`, by
  /// its description.
  init(_ object: Any) {
    self =
      switch object {
      case let number as Int64: .integer(number)
      case let text as String: .string(text)
      case let number as any BinaryInteger: Int64(exactly: number).map(ObjectReference.integer) ?? .string("\(number)")
      default: .string("\(object)")
      }
  }

  /// The reference as stores get it back: a number or a string. There must be one.
  var object: Any {
    switch self {
    case .temporary: preconditionFailure("A temporary identifier has no reference object.")
    case .integer(let number): NSNumber(value: number)
    case .string(let text): text
    }
  }

  /// What differs where references do, as far as 64 bits can tell.
  var bits: UInt64 {
    switch self {
    case .temporary(let number): ~number
    case .integer(let number): UInt64(bitPattern: number)
    case .string(let text): UInt64(truncatingIfNeeded: text.hashValue)
    }
  }
}
