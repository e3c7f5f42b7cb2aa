import Foundation

/// The rounds, summarised.
struct Comparison: Encodable {
  struct Line: Encodable {
    let figure: Figure
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
  init(_ values: [Figure: [[Double]]]) {
    lines = Figure.allCases.compactMap { figure in
      guard let rounds = values[figure] else { return nil }
      let ratio = Spread(rounds.map { $0[0] / $0[1] })
      return Line(
        figure: figure, unit: figure.unit, coreData: Spread(rounds.map { $0[0] }),
        grdb: Spread(rounds.map { $0[1] }), ratio: ratio, mark: figure.mark,
        isReached: figure.mark.map { ratio.median <= $0 })
    }
  }

  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  var table: String {
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

/// A median with the least and the greatest value.
struct Spread: Encodable {
  let median: Double
  let least: Double
  let most: Double

  /// - Parameter values: At least one.
  init(_ values: [Double]) {
    let sorted = values.sorted()
    median = sorted[sorted.count / 2]
    least = sorted[0]
    most = sorted[sorted.count - 1]
  }

  fileprivate var cells: [String] { [Self.text(median), "\(Self.text(least))–\(Self.text(most))"] }

  private static func text(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
  }
}
