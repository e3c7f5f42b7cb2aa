/// A table of figures, with their goals.
struct FigureTable {
  private var lines: [[String]] = [["", "median", "least", "most", "unit", "goal"]]

  /// - Parameter goal: The largest median that reaches the goal.
  mutating func add(_ name: String, _ values: [Double], _ unit: String, goal: Double? = nil) {
    let sorted = values.sorted()
    guard let first = sorted.first, let last = sorted.last else { return }
    let median = sorted[sorted.count / 2]
    let verdict = goal.map { "\(text($0)) \(median <= $0 ? "reached" : "missed")" } ?? ""
    lines.append([name, text(median), text(first), text(last), unit, verdict])
  }

  private func text(_ value: Double) -> String {
    let (scale, digits) = value < 10 ? (100.0, 2) : value < 100 ? (10, 1) : (1, 0)
    let scaled = Int((value * scale).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = "\(scaled % Int(scale))"
    return "\(scaled / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }

  var text: String {
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      var text = line.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return (1...3).contains(column) ? space + cell : cell + space
      }.joined(separator: "  ")
      while text.last == " " { text.removeLast() }
      return text
    }.joined(separator: "\n")
  }
}
