/// Why a model cannot be read from a file: what is wrong, in which file, and in which line of it.
public struct ModelFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file or folder.
  public let file: String
  /// The line, counted from 1; nil if the error is not about a line.
  public let line: Int?
  /// What is wrong.
  public let reason: String

  init(file: String, line: Int? = nil, reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  /// The file, the line and the reason, in the way compilers report errors.
  public var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(reason)" }
}
