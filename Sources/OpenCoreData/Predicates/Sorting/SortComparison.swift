import Foundation

/// The ways in which sort descriptors compare values, with the names of Apple's comparison methods.
enum SortComparison: String {
  /// Strings by their scalars.
  case plain = "compare:"
  /// Strings by their scalars, after the case is folded.
  case caseInsensitive = "caseInsensitiveCompare:"
  case localized = "localizedCompare:"
  case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
  /// Strings in the order that people expect of file names: numbers in them by value.
  case localizedStandard = "localizedStandardCompare:"

  /// The value to compare instead of the given one.
  func key(for value: PredicateValue) -> PredicateValue {
    guard self == .caseInsensitive, case .string(let text) = value else { return value }
    return .string(TextPreparation(.caseInsensitive).prepare(text))
  }

  /// The order of two keys. Null comes first; values of different kinds are ordered by kind.
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
  /// The rank of values of this kind among values of other kinds.
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
