import Foundation

/// How sort descriptors compare values, by the names that Apple's comparison methods have.
enum SortComparison: String {
  /// Strings by their scalars.
  case plain = "compare:"
  /// Strings by their scalars once the case is taken away.
  case caseInsensitive = "caseInsensitiveCompare:"
  case localized = "localizedCompare:"
  case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
  /// As people expect files to be sorted, numbers in them by value.
  case localizedStandard = "localizedStandardCompare:"

  /// What is compared in the place of a value.
  func key(for value: PredicateValue) -> PredicateValue {
    guard self == .caseInsensitive, case .string(let text) = value else { return value }
    return .string(TextPreparation(.caseInsensitive).prepare(text))
  }

  /// The order of two keys; null before everything, and values of different kinds by kind.
  func order(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult {
    if case .string(let left) = left, case .string(let right) = right { return order(left, right) }
    return left.order(right) ?? ComparisonResult(left.sortRank, right.sortRank)
  }

  private func order(_ left: String, _ right: String) -> ComparisonResult {
    switch self {
    case .plain, .caseInsensitive: ComparisonResult(left, right)
    case .localized: left.localizedCompare(right)
    case .localizedCaseInsensitive: left.localizedCaseInsensitiveCompare(right)
    case .localizedStandard: left.localizedStandardCompare(right)
    }
  }
}

extension PredicateValue {
  /// The place of values of this kind among others.
  fileprivate var sortRank: Int {
    switch self {
    case .null: 0
    case .double(let value) where value.isNaN: 1
    case .decimal(let value) where value.isNaN: 1
    case .integer, .double, .decimal: 2
    case .string: 3
    case .date(let value) where value.timeIntervalSinceReferenceDate.isNaN: 4
    case .date: 5
    case .uuid: 6
    case .data: 7
    case .collection: 8
    case .object: 9
    }
  }
}
