import Foundation

/// Arithmetic on numbers of any type. Integers give an integer, or a double if the result does not fit. Decimals, also
/// with integers, give a decimal, except in a power, which is a double. A double as an operand gives a double. If an
/// operand is not a number, the result is null.
enum Arithmetic {
  static func add(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
    combine(left, right, { $0.addingReportingOverflow($1) }, +, +)
  }

  static func subtract(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
    combine(left, right, { $0.subtractingReportingOverflow($1) }, -, -)
  }

  static func multiply(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
    combine(left, right, { $0.multipliedReportingOverflow(by: $1) }, *, *)
  }

  /// The quotient; if both numbers are integers, without its fraction.
  static func divide(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
    combine(left, right, { $0.dividedReportingOverflow(by: $1) }, /, /)
  }

  static func modulus(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
    combine(left, right, { $0.remainderReportingOverflow(dividingBy: $1) }, Numbers.remainder, fmod)
  }

  static func raise(_ base: PredicateValue, _ exponent: PredicateValue) -> PredicateValue {
    if case .integer(let base) = base, case .integer(let exponent) = exponent, let power = power(base, exponent) {
      return .integer(power)
    }
    guard let base = base.doubleValue, let exponent = exponent.doubleValue else { return .null }
    return .double(pow(base, exponent))
  }

  private static func combine(
    _ left: PredicateValue, _ right: PredicateValue,
    _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
    _ decimals: (Decimal, Decimal) -> Decimal,
    _ doubles: (Double, Double) -> Double
  ) -> PredicateValue {
    switch (left, right) {
    case (.integer(let left), .integer(let right)):
      let result = integers(left, right)
      return result.overflow ? .double(doubles(Double(left), Double(right))) : .integer(result.partialValue)
    case (.decimal(let left), .decimal(let right)): return .decimal(decimals(left, right))
    case (.decimal(let left), .integer(let right)): return .decimal(decimals(left, Decimal(right)))
    case (.integer(let left), .decimal(let right)): return .decimal(decimals(Decimal(left), right))
    default:
      guard let left = left.doubleValue, let right = right.doubleValue else { return .null }
      return .double(doubles(left, right))
    }
  }

  /// The power; nil if it is not an integer or does not fit.
  private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
    guard exponent >= 0 else { return nil }
    var (result, square, rest) = (Int64(1), base, exponent)
    while true {
      if rest & 1 == 1 {
        let product = result.multipliedReportingOverflow(by: square)
        if product.overflow { return nil }
        result = product.partialValue
      }
      rest >>= 1
      if rest == 0 { return result }
      let next = square.multipliedReportingOverflow(by: square)
      if next.overflow { return nil }
      square = next.partialValue
    }
  }
}
