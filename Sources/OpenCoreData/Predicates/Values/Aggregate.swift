import Foundation

/// An aggregate function and what it has computed of the values that it was given so far.
///
/// Null is 0 in a sum and an average, and a value like any other in a count; the others skip it. A sum or an average is
/// null if a value is not a number.
protocol Aggregate {
  /// Whether results are made of the values themselves.
  var keepsValues: Bool { get }
  mutating func add(_ value: PredicateValue)
  /// Adds a value as often as that many rows have it.
  mutating func add(_ value: PredicateValue, times: Int)
  /// The result for the values so far. Takes O(n log n) time for the median and the mode of n values.
  var result: PredicateValue { get }
}

extension Aggregate {
  var keepsValues: Bool { false }

  mutating func add(_ value: PredicateValue, times: Int) {
    for _ in 0..<times { add(value) }
  }

  /// The result for a list of values, if this aggregate has none yet.
  func result(of values: [PredicateValue]) -> PredicateValue {
    var all = self
    for value in values { all.add(value) }
    return all.result
  }
}

/// The number of values, null included.
struct Count: Aggregate {
  private var count: Int64 = 0

  mutating func add(_ value: PredicateValue) { count += 1 }

  mutating func add(_ value: PredicateValue, times: Int) { count += Int64(times) }

  var result: PredicateValue { .integer(count) }
}

struct Sum: Aggregate {
  private(set) var result = PredicateValue.integer(0)

  mutating func add(_ value: PredicateValue) { result = Arithmetic.add(result, value.isNull ? .integer(0) : value) }
}

/// The mean; null if there are no values.
struct Average: Aggregate {
  private var sum = Sum()
  private var count: Int64 = 0

  mutating func add(_ value: PredicateValue) {
    sum.add(value)
    count += 1
  }

  var result: PredicateValue {
    guard count > 0 else { return .null }
    if case .integer(let whole) = sum.result { return .double(Double(whole) / Double(count)) }
    return Arithmetic.divide(sum.result, .integer(count))
  }
}

/// The least or the greatest value, the first of several equal ones; null if no value has an order.
struct Extreme: Aggregate {
  private let order: ComparisonResult
  private(set) var result = PredicateValue.null

  static var minimum: Extreme { Extreme(.orderedAscending) }
  static var maximum: Extreme { Extreme(.orderedDescending) }

  private init(_ order: ComparisonResult) { self.order = order }

  var keepsValues: Bool { true }

  mutating func add(_ value: PredicateValue) {
    if result.isNull ? value.order(value) != nil : value.order(result) == order { result = value }
  }
}

/// The most frequent values, in the order in which they first appear. Keeps each value once.
struct Mode: Aggregate {
  private var found: [PredicateValue: (count: Int, place: Int)] = [:]

  var keepsValues: Bool { true }

  mutating func add(_ value: PredicateValue) {
    let place = found.count
    if !value.isNull { found[value, default: (0, place)].count += 1 }
  }

  var result: PredicateValue {
    let most = found.values.lazy.map(\.count).max()
    let frequent = found.filter { $0.value.count == most }.sorted { $0.value.place < $1.value.place }
    return .collection(frequent.map(\.key), ordered: true)
  }
}

/// A function of all numbers among the values, in 8 bytes a number; null if there are none.
struct Statistic: Aggregate {
  private let function: ([Double]) -> Double
  private var numbers: [Double] = []

  private init(_ function: @escaping ([Double]) -> Double) { self.function = function }

  mutating func add(_ value: PredicateValue) {
    if let number = value.doubleValue { numbers.append(number) }
  }

  var result: PredicateValue { numbers.isEmpty ? .null : .double(function(numbers)) }

  /// The median; for an even number of values, the mean of the middle two.
  static var median: Statistic {
    Statistic { numbers in
      let (numbers, middle) = (numbers.sorted(), numbers.count / 2)
      return numbers.count.isMultiple(of: 2) ? (numbers[middle - 1] + numbers[middle]) / 2 : numbers[middle]
    }
  }

  /// The standard deviation of the numbers as a whole population.
  static var standardDeviation: Statistic {
    Statistic { numbers in
      let mean = numbers.reduce(0, +) / Double(numbers.count)
      let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      return (squares / Double(numbers.count)).squareRoot()
    }
  }
}

extension [PredicateValue] {
  /// The values without those that are equal to earlier ones.
  var distinct: [PredicateValue] {
    var seen: Set<PredicateValue> = []
    return filter { seen.insert($0).inserted }
  }
}
