import Foundation

/// The rounds, summarised.
package struct Comparison<Measured: Figure>: Encodable {
  struct Line: Encodable {
    let figure: Measured
    let unit: String
    let coreData: Spread
    let grdb: Spread
    /// Core Data's value divided by GRDB's, in the same round.
    let ratio: Spread
    let mark: Double?
    let isReached: Bool?
  }

  let lines: [Line]

  /// - Parameter values: For each figure and round, the values of both sides, Core Data's first.
  package init(_ values: [Measured: [[Double]]]) {
    lines = Measured.allCases.compactMap { figure in
      guard let rounds = values[figure] else { return nil }
      let ratio = Spread(rounds.map { $0[0] / $0[1] })
      return Line(
        figure: figure, unit: figure.unit, coreData: Spread(rounds.map { $0[0] }),
        grdb: Spread(rounds.map { $0[1] }), ratio: ratio, mark: figure.mark,
        isReached: figure.mark.map { ratio.median <= $0 })
    }
  }

  package var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  package var table: String {
    var cells = [
      ["", "Core Data on Cairn", "", "GRDB on SQLite", "", "unit", "ratio", "", "mark", ""],
      ["", "median", "least–most", "median", "least–most", "", "median", "least–most", "at most", ""],
    ]
    for line in lines {
      let verdict = line.isReached.map { $0 ? "reached" : "missed" } ?? ""
      cells.append(
        [line.figure.rawValue] + line.coreData.cells + line.grdb.cells + [line.unit] + line.ratio.cells
          + [line.mark.map { String(format: "%.1f", $0) } ?? "", verdict])
    }
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { row in
      var text = row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return [0, 5, 9].contains(column) ? cell + space : space + cell
      }.joined(separator: "  ")
      while text.last == " " { text.removeLast() }
      return text
    }.joined(separator: "\n")
  }
}
