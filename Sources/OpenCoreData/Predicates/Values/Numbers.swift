import Foundation

/// Compares numbers of different types by value, and computes with decimals.
enum Numbers {
  /// Nil if either is NaN.
  static func order(_ left: Double, _ right: Double) -> ComparisonResult? {
    left < right ? .orderedAscending : left > right ? .orderedDescending : left == right ? .orderedSame : nil
  }

  /// The exact order, although not every integer can be represented as a double; nil if the double is NaN.
  static func order(_ left: Int64, _ right: Double) -> ComparisonResult? {
    guard !right.isNaN else { return nil }
    let limit = 0x1p63
    if right >= limit { return .orderedAscending }
    if right < -limit { return .orderedDescending }
    let whole = right.rounded(.towardZero)
    let order = ComparisonResult(left, Int64(whole))
    return order == .orderedSame ? ComparisonResult(whole, right) : order
  }

  /// Nil if either is NaN.
  static func order(_ left: Decimal, _ right: Decimal) -> ComparisonResult? {
    left.isNaN || right.isNaN ? nil : ComparisonResult(left, right)
  }

  /// The decimal rounded up, down or toward zero; any other rule rounds down.
  static func rounded(_ decimal: Decimal, _ rule: FloatingPointRoundingRule) -> Decimal {
    let isUp = rule == .up || rule == .towardZero && decimal.isSignMinus
    var (decimal, whole) = (decimal, Decimal())
    unsafe NSDecimalRound(&whole, &decimal, 0, isUp ? .up : .down)
    return whole
  }

  /// The remainder of a division with a whole quotient, with the sign of the dividend; NaN for a divisor of 0.
  static func remainder(_ dividend: Decimal, _ divisor: Decimal) -> Decimal {
    guard divisor.isFinite, divisor != 0 else { return .nan }
    var rest = dividend
    while abs(rest) >= abs(divisor) { rest -= rounded(rest / divisor, .towardZero) * divisor }
    // A quotient has a limited number of digits, so it may have been rounded to the next whole number.
    guard rest != 0, rest.isSignMinus != dividend.isSignMinus else { return rest }
    return rest.isSignMinus ? rest + abs(divisor) : rest - abs(divisor)
  }

  /// The double nearest to a decimal number, so that the decimal 10.10 equals the literal 10.1.
  static func double(_ decimal: Decimal) -> Double { Double(decimal.description) ?? .nan }
}

extension ComparisonResult {
  /// The order of two values of a totally ordered type.
  init<Value: Comparable>(_ left: Value, _ right: Value) {
    self = left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  /// The opposite order.
  var reversed: ComparisonResult {
    switch self {
    case .orderedAscending: .orderedDescending
    case .orderedSame: .orderedSame
    case .orderedDescending: .orderedAscending
    }
  }
}
