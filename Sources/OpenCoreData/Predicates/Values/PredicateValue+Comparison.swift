public import Foundation

extension PredicateValue {
  /// The order of two values. Nil if they have none: null, values that have no order, values of different kinds.
  /// Objects of one store have the order of their references.
  public func order(_ other: PredicateValue) -> ComparisonResult? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): ComparisonResult(left, right)
    case (.string(let left), .string(let right)): ComparisonResult(left, right)
    case (.date(let left), .date(let right)):
      Numbers.order(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
    case (.uuid(let left), .uuid(let right)): ComparisonResult(left, right)
    case (.object(let left), .object(let right)): ObjectEquality.order(left, right)
    default: numericOrder(other)
    }
  }

  private func numericOrder(_ other: PredicateValue) -> ComparisonResult? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): ComparisonResult(left, right)
    case (.double(let left), .double(let right)): Numbers.order(left, right)
    case (.decimal(let left), .decimal(let right)): Numbers.order(left, right)
    case (.integer(let left), .double(let right)): Numbers.order(left, right)
    case (.double(let left), .integer(let right)): Numbers.order(right, left)?.reversed
    case (.integer(let left), .decimal(let right)): Numbers.order(Decimal(left), right)
    case (.decimal(let left), .integer(let right)): Numbers.order(left, Decimal(right))
    case (.double(let left), .decimal(let right)): Numbers.order(left, Numbers.double(right))
    case (.decimal(let left), .double(let right)): Numbers.order(Numbers.double(left), right)
    default: nil
    }
  }

  /// The number as a double; nil if the value is not a number.
  var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): Numbers.double(value)
    default: nil
    }
  }
}

extension PredicateValue: Hashable {
  /// Whether a predicate's `==` is true for two values.
  public static func == (left: PredicateValue, right: PredicateValue) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.null, .null): true
    case (.date(let left), .date(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.collection(let left, ordered: true), .collection(let right, ordered: true)): left == right
    case (.collection(let left, ordered: false), .collection(let right, ordered: false)): Set(left) == Set(right)
    case (.object(let left), .object(let right)): ObjectEquality.equal(left, right)
    default: left.numericOrder(right) == .orderedSame
    }
  }

  /// Equal values have equal hashes, also numbers of different types.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: break
    case .integer, .double, .decimal: hasher.combine(doubleValue)
    case .string(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .collection(let elements, ordered: true): hasher.combine(elements)
    case .collection(let elements, ordered: false): hasher.combine(Set(elements))
    case .object(let value): ObjectEquality.hash(value, into: &hasher)
    }
  }
}
