import Foundation

/// A progress bar on the terminal. Not shown if standard output or standard error is not a terminal.
struct ProgressBar {
  private static let width = 32

  private let title: String
  private let total: Int
  private let isShown: Bool
  private var nextDrawing = ContinuousClock.now

  /// Shows a bar while `body` works and reports its progress.
  static func during<Result>(
    _ title: String, total: Int, counting what: String,
    _ body: (_ progress: (_ done: Int, _ count: Int) -> Void) throws -> Result
  ) rethrows -> Result {
    var bar = ProgressBar(title, total: total)
    defer { bar.finish() }
    return try body { done, count in bar.update(done, note: "\(count.grouped) \(what)") }
  }

  init(_ title: String, total: Int) {
    self.title = title
    self.total = max(total, 1)
    isShown = isatty(STDOUT_FILENO) != 0 && isatty(STDERR_FILENO) != 0
  }

  /// Draws at most twenty times a second.
  mutating func update(_ done: Int, note: @autoclosure () -> String) {
    guard isShown, ContinuousClock.now >= nextDrawing else { return }
    nextDrawing = .now + .milliseconds(50)
    let fraction = min(Double(done) / Double(total), 1)
    let filled = Int(fraction * Double(Self.width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
    draw("\(title)  \(bar)  \(Int(fraction * 100)) %  \(note())")
  }

  /// Removes the bar.
  func finish() {
    guard isShown else { return }
    draw("")
  }

  private func draw(_ text: String) {
    FileHandle.standardError.write(Data("\r\u{1B}[2K\(text)".utf8))
  }
}
