import CoreData

/// A line that shows on a terminal how far a task is. If standard error is no terminal, it shows nothing.
struct ProgressLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1

  func show(_ text: String) { write("\r\u{1B}[K" + text) }

  /// Removes the line.
  func clear() { write("\r\u{1B}[K") }

  private func write(_ text: String) {
    if isShown { FileHandle.standardError.write(Data(text.utf8)) }
  }
}
