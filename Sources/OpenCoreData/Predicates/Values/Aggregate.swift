import Foundation

/// The aggregate functions and the computations of collection operators.
///
/// Sum and average count null as 0; the others skip it. A sum or an average is null if a value is not a number.
enum Aggregate {
  static func sum(_ values: [PredicateValue]) -> PredicateValue {
    values.reduce(.integer(0)) { Arithmetic.add($0, $1.isNull ? .integer(0) : $1) }
  }

  /// The mean; null if there are no values.
  static func average(_ values: [PredicateValue]) -> PredicateValue {
    guard !values.isEmpty else { return .null }
    let sum = sum(values)
    let exact: PredicateValue =
      if case .integer(let whole) = sum { .double(Double(whole)) } else { sum }
    return Arithmetic.divide(exact, .integer(Int64(values.count)))
  }

  static func minimum(_ values: [PredicateValue]) -> PredicateValue { extreme(of: values, .orderedAscending) }

  static func maximum(_ values: [PredicateValue]) -> PredicateValue { extreme(of: values, .orderedDescending) }

  private static func extreme(of values: [PredicateValue], _ order: ComparisonResult) -> PredicateValue {
    values.reduce(.null) { best, value in
      (best.isNull && value.order(value) != nil) || value.order(best) == order ? value : best
    }
  }

  /// The median; for an even number of values, the mean of the middle two. Null if there are no numbers.
  static func median(_ values: [PredicateValue]) -> PredicateValue {
    let numbers = values.compactMap(\.doubleValue).sorted()
    guard !numbers.isEmpty else { return .null }
    let middle = numbers.count / 2
    return .double(numbers.count.isMultiple(of: 2) ? (numbers[middle - 1] + numbers[middle]) / 2 : numbers[middle])
  }

  /// The most frequent values, in the order in which they first appear.
  static func mode(_ values: [PredicateValue]) -> PredicateValue {
    let present = values.filter { !$0.isNull }
    let counts = present.reduce(into: [PredicateValue: Int]()) { $0[$1, default: 0] += 1 }
    let most = counts.values.max()
    return .collection(distinct(present).filter { counts[$0] == most }, ordered: true)
  }

  /// The standard deviation of the numbers as a whole population; null if there are no numbers.
  static func standardDeviation(_ values: [PredicateValue]) -> PredicateValue {
    let numbers = values.compactMap(\.doubleValue)
    guard !numbers.isEmpty else { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double((squares / Double(numbers.count)).squareRoot())
  }

  static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
    var seen: Set<PredicateValue> = []
    return values.filter { seen.insert($0).inserted }
  }
}
