import Cairn
import CairnInspection

/// Rows of text in aligned columns.
struct Table {
  enum Alignment {
    case left, right
  }

  private let alignments: [Alignment]
  private var rows: [[String]]

  init(_ columns: KeyValuePairs<String, Alignment>) {
    alignments = columns.map(\.value)
    rows = [columns.map(\.key)]
  }

  /// Makes a table with all columns aligned on the left.
  init(_ columns: [String]) {
    alignments = columns.map { _ in .left }
    rows = [columns]
  }

  mutating func append(_ cells: String...) { append(cells) }

  mutating func append(_ cells: [String]) { rows.append(cells) }

  /// Each row on a line of its own, indented by two.
  var lines: [String] {
    let widths = alignments.indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.columns)
        line += "  " + (alignments[column] == .left ? cell + space : space + cell)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension String {
  /// The number of terminal columns that the text takes.
  fileprivate var columns: Int {
    reduce(0) { $0 + ($1.unicodeScalars.first.map(Self.isWide) ?? false ? 2 : 1) }
  }

  /// Whether a terminal shows the character two columns wide: East Asian scripts and forms, and pictographs.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1FAFF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}

extension Int {
  /// The number and the noun, in the plural unless the number is 1.
  func of(_ word: String) -> String { "\(grouped) \(word)\(self == 1 ? "" : "s")" }
}

/// A text from a store or a path: unchanged if it is harmless, else as a literal.
func escapedForTerminal(_ text: String) -> String {
  text.unicodeScalars.contains { Escaping.isHidden($0.value) } ? Key.string(text).literal : text
}
