/// What was assumed when a model was read from a file: something in it has no meaning, and the rest has without it.
public struct ModelFileWarning: Hashable, Sendable, CustomStringConvertible {
  /// The path of the file.
  public let file: String
  /// The line, counted from 1; nil if it is not about a line.
  public let line: Int?
  /// What is wrong, and what was assumed, in words.
  public let reason: String

  /// The file, the line and the reason, in the way compilers warn.
  public var description: String { "\(file):\(line.map { "\($0):" } ?? "") warning: \(reason)" }
}
