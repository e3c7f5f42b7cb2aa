import Foundation

extension Function {
  /// The closure that computes a function.
  enum Implementation {
    /// Returns another value at each call.
    case fresh(() -> PredicateValue)
    case freshUnary((PredicateValue) -> PredicateValue)
    case unary((PredicateValue) -> PredicateValue)
    case binary((PredicateValue, PredicateValue) -> PredicateValue)
    /// Makes one value of all elements of a collection.
    case aggregate(any Aggregate)
  }

  /// The closure that computes the function. It returns null for arguments of an unsuitable kind.
  var implementation: Implementation {
    switch self {
    case .sum: .aggregate(Sum())
    case .count: .aggregate(Count())
    case .minimum: .aggregate(Extreme.minimum)
    case .maximum: .aggregate(Extreme.maximum)
    case .average: .aggregate(Average())
    case .median: .aggregate(Statistic.median)
    case .mode: .aggregate(Mode())
    case .standardDeviation: .aggregate(Statistic.standardDeviation)
    case .add: .binary(Arithmetic.add)
    case .subtract: .binary(Arithmetic.subtract)
    case .multiply: .binary(Arithmetic.multiply)
    case .divide: .binary(Arithmetic.divide)
    case .modulus: .binary(Arithmetic.modulus)
    case .raise: .binary(Arithmetic.raise)
    case .squareRoot: .real { $0.squareRoot() }
    case .decimalLogarithm: .real(log10)
    case .naturalLogarithm: .real { log($0) }
    case .exponential: .real { exp($0) }
    case .floor: .rounding(.down)
    case .ceiling: .rounding(.up)
    case .truncate: .rounding(.towardZero)
    case .absolute: .unary { $0.order(.integer(0)) == .orderedAscending ? Arithmetic.subtract(.integer(0), $0) : $0 }
    case .random: .fresh { .double(.random(in: 0..<1)) }
    case .randomBelow: .freshUnary(Self.random)
    case .now: .fresh { .date(Date()) }
    case .bitwiseAnd: .bits(&)
    case .bitwiseOr: .bits(|)
    case .bitwiseXor: .bits(^)
    case .leftShift: .bits { $0 << $1 }
    case .rightShift: .bits { $0 >> $1 }
    case .onesComplement: .unary { if case .integer(let bits) = $0 { .integer(~bits) } else { .null } }
    case .lowercase: .text { .string($0.lowercased()) }
    case .uppercase: .text { .string($0.uppercased()) }
    case .canonical: .text { .string(TextPreparation([.caseInsensitive, .diacriticInsensitive]).prepare($0)) }
    case .length: .text { .integer(Int64($0.utf16.count)) }
    case .noIndex: .unary { $0 }
    case .distance: .binary(Location.distance)
    case .cast: .binary(Self.cast)
    case .index: .binary(Self.element)
    }
  }

  private static func random(below limit: PredicateValue) -> PredicateValue {
    guard case .integer(let limit) = limit, limit > 0 else { return .null }
    return .integer(.random(in: 0..<limit))
  }

  private static func cast(_ value: PredicateValue, to name: PredicateValue) -> PredicateValue {
    guard case .string(let name) = name, let type = CastType(name) else { return .null }
    return type.cast(value)
  }

  /// The value of `collection[index]`; for anything but a collection, its value for a key.
  private static func element(of value: PredicateValue, at index: PredicateValue) -> PredicateValue {
    switch (value, index) {
    case (.collection(let elements, _), .object(SymbolicIndex.size)): .integer(Int64(elements.count))
    case (.collection(let elements, ordered: true), .object(SymbolicIndex.first)): elements.first ?? .null
    case (.collection(let elements, ordered: true), .object(SymbolicIndex.last)): elements.last ?? .null
    case (.collection(let elements, ordered: true), .integer(let index)):
      Int(exactly: index).flatMap { elements.indices.contains($0) ? elements[$0] : nil } ?? .null
    case (.object, .string(let key)): value.value(forKey: key)
    default: .null
    }
  }
}

extension Function.Implementation {
  fileprivate static func real(_ function: @escaping (Double) -> Double) -> Self {
    .unary { $0.doubleValue.map { .double(function($0)) } ?? .null }
  }

  /// Rounds decimals and doubles; integers stay as they are.
  fileprivate static func rounding(_ rule: FloatingPointRoundingRule) -> Self {
    .unary { value in
      switch value {
      case .integer: value
      case .decimal(let value): .decimal(Numbers.rounded(value, rule))
      default: value.doubleValue.map { .double($0.rounded(rule)) } ?? .null
      }
    }
  }

  fileprivate static func bits(_ function: @escaping (Int64, Int64) -> Int64) -> Self {
    .binary { left, right in
      guard case .integer(let left) = left, case .integer(let right) = right else { return .null }
      return .integer(function(left, right))
    }
  }

  fileprivate static func text(_ function: @escaping (String) -> PredicateValue) -> Self {
    .unary { if case .string(let text) = $0 { function(text) } else { .null } }
  }
}
