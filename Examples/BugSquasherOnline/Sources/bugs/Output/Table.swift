/// Rows of texts, printed in columns.
struct Table {
  private var rows: [[String]]

  init(_ titles: String...) { rows = [titles] }

  mutating func add(_ cells: String...) { rows.append(cells) }

  func print() {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      let line = cells.joined(separator: "  ")
      Swift.print(line[...(line.lastIndex { $0 != " " } ?? line.startIndex)])
    }
  }
}
