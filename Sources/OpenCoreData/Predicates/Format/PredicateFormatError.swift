/// A predicate format that is malformed, or does not fit its arguments.
public struct PredicateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The format.
  public let format: String
  /// The position of the error in the format.
  public let position: String.Index
  /// What is wrong at that position.
  public let reason: String

  /// What is wrong, and the format with a mark below the position.
  public var description: String {
    let line = format[..<position].map { $0.isWhitespace ? $0 : " " }
    return "the format cannot be parsed: \(reason)\n  \(format)\n  \(String(line))^"
  }
}
