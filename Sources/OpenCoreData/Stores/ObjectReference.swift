import Foundation

/// Distinguishes an object from the others of its entity.
enum ObjectReference: Hashable {
  /// A number that the process has given to an object which no store has yet.
  case temporary(UInt64)
  case integer(Int64)
  case string(String)

  /// Makes a reference from the value by which a store refers to its object: a whole number or a string. Any other
  /// value, and a number beyond `Int64`, is replaced by its description.
  init(_ object: Any) {
    self =
      switch object {
      case let number as Int64: .integer(number)
      case let text as String: .string(text)
      case let number as any BinaryInteger: Int64(exactly: number).map(ObjectReference.integer) ?? .string("\(number)")
      default: .string("\(object)")
      }
  }

  /// The value that stores get back: a number or a string. The reference must not be temporary.
  var object: Any {
    switch self {
    case .temporary: fatalError("A temporary identifier has no reference object.")
    case .integer(let number): NSNumber(value: number)
    case .string(let text): text
    }
  }

  /// A hash of the reference: 64 bits.
  var bits: UInt64 {
    switch self {
    case .temporary(let number): ~number
    case .integer(let number): UInt64(bitPattern: number)
    case .string(let text): UInt64(truncatingIfNeeded: text.hashValue)
    }
  }
}
