import OpenCoreData

/// The figures that are measured in each round, with their goals.
enum Figure: String, CaseIterable {
  case made = "inserted, 4 attributes and a to-one set"
  case savedNew = "saved, inserted"
  case fetchedFaults = "fetched as faults"
  case fired = "a fault fired"
  case fetchedAgain = "fetched, in memory already"
  case fetchedValues = "fetched with values"
  case read = "an attribute read"
  case readRelated = "a to-one read"
  case changed = "an attribute changed"
  case changedAgain = "an attribute changed again"
  case savedChanged = "saved, changed"
  case mergedFaults = "a save merged, faults"
  case mergedValues = "a save merged, realised"
  case refreshed = "made a fault again"
  case deleted = "deleted"
  case savedDeleted = "saved, deleted"
  case child10 = "child added by its to-one, at 10,000"
  case child100 = "child added by its to-one, at 100,000"
  case member10 = "child added to the set, at 10,000"
  case member100 = "child added to the set, at 100,000"
  case fault = "a fault"
  case realised = "a realised object"

  var isMemory: Bool { [.fault, .realised].contains(self) }

  /// The largest median that reaches the goal, in nanoseconds or bytes; nil if there is no goal.
  var goal: Double? {
    switch self {
    case .fired: 3000
    case .changed: 1000
    case .fault: 250
    case .realised: 600
    default: nil
    }
  }
}

/// The figures of all rounds.
final class Figures {
  private var rounds: [Figure: [Double]] = [:]

  func add(_ figure: Figure, _ value: Double) { rounds[figure, default: []].append(value) }

  /// A table with the medians, minima and maxima.
  var table: String {
    var lines = [["an object", "median", "least", "most", "unit", "goal", ""]]
    for figure in Figure.allCases {
      guard let values = rounds[figure]?.sorted() else { continue }
      if figure == .fault { lines.append([]) }
      let median = values[values.count / 2]
      let unit = figure.isMemory ? "bytes" : "ns"
      let verdict = figure.goal.map { median <= $0 ? "reached" : "missed" } ?? ""
      lines.append(
        [figure.rawValue] + [median, values[0], values[values.count - 1]].map(whole)
          + [unit, figure.goal.map(whole) ?? "", verdict])
    }
    return aligned(lines)
  }

  private func whole(_ number: Double) -> String { String(Int(number.rounded())) }

  private func aligned(_ lines: [[String]]) -> String {
    let widths = lines[0].indices.map { column in lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return lines.map { line in
      var text = line.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 || column > 5 ? cell + space : space + cell
      }.joined(separator: "  ")
      while text.last == " " { text.removeLast() }
      return text
    }.joined(separator: "\n")
  }
}
