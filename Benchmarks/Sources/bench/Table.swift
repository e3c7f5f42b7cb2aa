/// Text in aligned columns.
struct Table {
  enum Alignment { case left, right }

  private let alignments: [Alignment]
  private var lines: [[String]]

  init(_ columns: [(title: String, alignment: Alignment)]) {
    alignments = columns.map(\.alignment)
    lines = [columns.map(\.title)]
  }

  mutating func add(_ cells: [String]) {
    lines.append(cells)
  }

  /// An empty line.
  mutating func separate() {
    lines.append([])
  }

  var text: String {
    let widths = alignments.indices.map { column in
      lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return lines.map { cells in
      let padded = cells.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return alignments[column] == .left ? cell + space : space + cell
      }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }
}
