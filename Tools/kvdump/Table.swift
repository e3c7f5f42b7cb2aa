import Cairn
import CairnInspection

/// Rows of text whose columns line up.
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

  mutating func append(_ cells: String...) { append(cells) }

  mutating func append(_ cells: [String]) { rows.append(cells) }

  /// Each row on a line of its own, indented by two.
  var lines: [String] {
    let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line += "  " + (alignments[column] == .left ? cell + space : space + cell)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension FixedWidthInteger {
  /// In groups of three digits.
  var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}

/// A text out of a store or a path: as it is where that is harmless, else as a literal.
func escapedForTerminal(_ text: String) -> String {
  text.unicodeScalars.contains { Escaping.isHidden($0.value) } ? Reference.string(text).literal : text
}
