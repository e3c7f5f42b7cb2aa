/// An assumption that was made when a model was read from a file, because a setting in the file has no meaning although
/// the rest of the model is meaningful without it.
public struct ModelFileWarning: Hashable, Sendable, CustomStringConvertible {
  /// The path of the file.
  public let file: String
  /// The line, counted from 1; nil if the warning is not about a line.
  public let line: Int?
  /// What is wrong, and what was assumed.
  public let reason: String

  /// The file, the line and the reason, in the way compilers report warnings.
  public var description: String { "\(file):\(line.map { "\($0):" } ?? "") warning: \(reason)" }
}
