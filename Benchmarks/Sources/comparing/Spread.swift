import Foundation

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

  var cells: [String] { [Self.text(median), "\(Self.text(least))–\(Self.text(most))"] }

  private static func text(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
  }
}
