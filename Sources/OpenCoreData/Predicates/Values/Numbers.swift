import Foundation

/// Numbers of different types, compared by value.
enum Numbers {
  /// Nil if either is not a number.
  static func order(_ left: Double, _ right: Double) -> ComparisonResult? {
    left < right ? .orderedAscending : left > right ? .orderedDescending : left == right ? .orderedSame : nil
  }

  /// Exactly, although not every integer is a double; nil if the double is not a number.
  static func order(_ left: Int64, _ right: Double) -> ComparisonResult? {
    guard !right.isNaN else { return nil }
    let limit = 0x1p63
    if right >= limit { return .orderedAscending }
    if right < -limit { return .orderedDescending }
    let whole = right.rounded(.towardZero)
    let order = ComparisonResult(left, Int64(whole))
    return order == .orderedSame ? ComparisonResult(whole, right) : order
  }

  /// Nil if either is not a number.
  static func order(_ left: Decimal, _ right: Decimal) -> ComparisonResult? {
    left.isNaN || right.isNaN ? nil : ComparisonResult(left, right)
  }

  /// The whole number below, above, or on the side of zero.
  static func rounded(_ decimal: Decimal, _ rule: FloatingPointRoundingRule) -> Decimal {
    let isUp = rule == .up || rule == .towardZero && decimal.isSignMinus
    var (decimal, whole) = (decimal, Decimal())
    unsafe NSDecimalRound(&whole, &decimal, 0, isUp ? .up : .down)
    return whole
  }

  /// What is left of a division with a whole quotient, with the sign of the dividend; not a number for a divisor of 0.
  static func remainder(_ dividend: Decimal, _ divisor: Decimal) -> Decimal {
    guard divisor.isFinite, divisor != 0 else { return .nan }
    var rest = dividend
    while abs(rest) >= abs(divisor) { rest -= rounded(rest / divisor, .towardZero) * divisor }
    // The digits of a quotient are limited: it may have become the next whole number.
    guard rest != 0, rest.isSignMinus != dividend.isSignMinus else { return rest }
    return rest.isSignMinus ? rest + abs(divisor) : rest - abs(divisor)
  }

  /// The double nearest to a decimal number, so that 10.10 is the literal 10.1.
  static func double(_ decimal: Decimal) -> Double { Double(decimal.description) ?? .nan }
}

extension ComparisonResult {
  /// The order of two values of which each is less than, equal to or greater than any other.
  init<Value: Comparable>(_ left: Value, _ right: Value) {
    self = left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  /// The other way round.
  var reversed: ComparisonResult {
    switch self {
    case .orderedAscending: .orderedDescending
    case .orderedSame: .orderedSame
    case .orderedDescending: .orderedAscending
    }
  }
}
