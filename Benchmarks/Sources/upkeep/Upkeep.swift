import ArgumentParser
import Foundation

/// Measures what compaction gains and what it costs, and what backups copy.
@main
struct Upkeep: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Measures what compaction gains and what it costs, and what backups copy.",
    discussion: "Rows have keys of 16 bytes and values of 100, half compressible.",
    subcommands: [Space.self, Latency.self, Dictionaries.self, Backups.self])
}

/// A folder for stores, which is removed at the end.
struct Workplace {
  private let path: String
  private static let process = ProcessInfo.processInfo.processIdentifier

  init(in directory: String?) throws {
    path = (directory ?? NSTemporaryDirectory()) + "/upkeep-\(Self.process)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func store(_ name: String) -> String { "\(path)/\(name)" }

  func remove(_ name: String) { try? FileManager.default.removeItem(atPath: store(name)) }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// Shows on standard error what is running, if that is a terminal.
struct Progress {
  private let isShown = isatty(2) == 1

  func show(_ text: String) {
    if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8)) }
  }

  func clear() { show("") }
}

/// Lines with their cells in columns: the first column aligned to the left, the others to the right.
func aligned(_ lines: [[String]]) -> String {
  let widths = (lines.first ?? []).indices.map { column in
    lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
  }
  return lines.map { line in
    line.enumerated().map { column, cell in
      let space = String(repeating: " ", count: widths[column] - cell.count)
      return column == 0 ? cell + space : space + cell
    }.joined(separator: "  ")
  }.joined(separator: "\n")
}

/// The number with this many digits after the decimal point.
func decimal(_ number: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", number) }

func median(_ numbers: [Double]) -> Double {
  let sorted = numbers.sorted()
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
