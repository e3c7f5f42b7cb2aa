import Foundation
import Synchronization

/// Compares two values as a comparison predicate requires; with a quantifier, each element of the left value.
struct Comparison {
  private let type: NSComparisonPredicate.Operator
  private let modifier: NSComparisonPredicate.Modifier
  private let options: NSComparisonPredicate.Options
  private let text: TextPreparation
  /// Whether values are compared without being prepared.
  private let isPlain: Bool

  init(_ predicate: NSComparisonPredicate) {
    type = predicate.predicateOperatorType
    modifier = predicate.comparisonPredicateModifier
    options = predicate.options
    text = TextPreparation(options)
    isPlain =
      switch type {
      case .beginsWith, .endsWith, .in, .contains, .like, .matches: false
      default: text.isTrivial
      }
  }

  // MARK: Quantifiers

  /// The test, applied to each element if the comparison has a quantifier.
  func quantified(_ test: @escaping (PredicateValue) -> Bool) -> (PredicateValue) -> Bool {
    switch modifier {
    case .direct: test
    case .any: { self.elements(of: $0)?.contains(where: test) ?? false }
    case .all: { $0.isNull || self.elements(of: $0)?.allSatisfy(test) ?? false }
    }
  }

  /// The elements of a collection. Collections among them are flattened, except for `CONTAINS`, which searches them.
  private func elements(of value: PredicateValue) -> [PredicateValue]? {
    guard let elements = value.elements, type != .contains else { return value.elements }
    return elements.flatMap { self.elements(of: $0) ?? [$0] }
  }

  // MARK: Comparing

  /// Whether the comparison is true for two values. An invalid regular expression matches nothing.
  func holds(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    if isPlain { return holdsPrepared(left, right) }
    if type == .like || type == .matches { return (try? pattern(right))?(left) ?? false }
    return holdsPrepared(
      prepare(type == .contains ? searched(left) : left), prepare(type == .in ? searched(right) : right))
  }

  /// A test that compares values with a constant, which is prepared only once. Throws if it is an invalid regular
  /// expression.
  func test(against right: PredicateValue) throws(PredicateCompilationError) -> (PredicateValue) -> Bool {
    if isPlain { return { self.holdsPrepared($0, right) } }
    if type == .like || type == .matches { return try pattern(right) }
    let right = prepare(type == .in ? searched(right) : right)
    if type == .in, let elements = right.elements, text.hashesLikeStrings {
      let members = ConstantMembers(elements)
      return { members.contain(self.prepare($0), self.equal) }
    }
    if type == .contains { return { self.holdsPrepared(self.prepare(self.searched($0)), right) } }
    return { self.holdsPrepared(self.prepare($0), right) }
  }

  /// The collection to search for an element: the values of a dictionary, or else the value itself.
  private func searched(_ value: PredicateValue) -> PredicateValue {
    guard case .object = value, let members = value.members else { return value }
    return .collection(members, ordered: false)
  }

  /// The value with all strings prepared as the options require.
  private func prepare(_ value: PredicateValue) -> PredicateValue {
    switch value {
    case .string(let string): .string(text.prepare(string))
    case .collection(let elements, let ordered) where !text.isTrivial:
      .collection(elements.map(prepare), ordered: ordered)
    default: value
    }
  }

  private func holdsPrepared(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    switch type {
    case .equalTo: equal(left, right)
    case .notEqualTo: !equal(left, right)
    case .lessThan: order(left, right) == .orderedAscending
    case .lessThanOrEqualTo: isOrdered(left, right)
    case .greaterThan: order(left, right) == .orderedDescending
    case .greaterThanOrEqualTo: isOrdered(right, left)
    case .between: isBetween(left, right)
    case .in: isElement(left, of: right)
    case .contains: isElement(right, of: left)
    case .beginsWith: both(left, right) { $0.beginsWithBytes(of: $1) }
    case .endsWith: both(left, right) { $0.endsWithBytes(of: $1) }
    case .like, .matches: false
    }
  }

  private func order(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult? {
    if !text.isTrivial, case .string(let left) = left, case .string(let right) = right {
      return text.order(left, right)
    }
    return left.order(right)
  }

  private func isOrdered(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    let order = order(left, right)
    return order == .orderedAscending || order == .orderedSame
  }

  private func equal(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    if !text.isTrivial, case .string(let left) = left, case .string(let right) = right {
      return text.equal(left, right)
    }
    return left == right
  }

  private func isBetween(_ value: PredicateValue, _ range: PredicateValue) -> Bool {
    guard let bounds = range.elements, bounds.count == 2 else { return false }
    return isOrdered(bounds[0], value) && isOrdered(value, bounds[1])
  }

  private func isElement(_ value: PredicateValue, of collection: PredicateValue) -> Bool {
    if let elements = collection.elements { return elements.contains { equal(value, $0) } }
    return both(collection, value) { $0.containsBytes(of: $1) }
  }

  private func both(_ left: PredicateValue, _ right: PredicateValue, _ test: (String, String) -> Bool) -> Bool {
    guard case .string(let left) = left, case .string(let right) = right else { return false }
    return test(left, right)
  }

  // MARK: Patterns

  private func pattern(_ value: PredicateValue) throws(PredicateCompilationError) -> (PredicateValue) -> Bool {
    guard case .string(let pattern) = value else { return { _ in false } }
    let matches = type == .like ? like(pattern) : try regularExpression(pattern)
    return { if case .string(let string) = $0 { matches(string) } else { false } }
  }

  private func like(_ pattern: String) -> (String) -> Bool {
    let pattern = LikePattern(text.prepare(pattern), isExact: text.isExact)
    return { pattern.matches(self.text.prepare($0)) }
  }

  /// The regular expression ignores case itself, instead of being prepared: folding its case would make `\D` the same
  /// as `\d`.
  private func regularExpression(_ pattern: String) throws(PredicateCompilationError) -> (String) -> Bool {
    let text = TextPreparation(options.subtracting(.caseInsensitive))
    let ignoresCase = options.contains(.caseInsensitive) && !text.isExact
    let caseOption: NSRegularExpression.Options = ignoresCase ? .caseInsensitive : []
    guard let expression = NSRegularExpression.whole(text.prepare(pattern), caseOption) else {
      throw .invalidPattern(pattern)
    }
    return { string in
      let string = text.prepare(string)
      let range = NSRange(location: 0, length: string.utf16.count)
      return expression.firstMatch(in: string, options: [], range: range) != nil
    }
  }
}

extension NSRegularExpression {
  /// A regular expression that matches only whole texts; nil if the pattern by itself is invalid. An empty pattern,
  /// which Foundation refuses, matches only an empty text.
  fileprivate static func whole(_ pattern: String, _ options: Options) -> NSRegularExpression? {
    guard pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: options)) != nil else { return nil }
    // The end of the pattern may be inside a quotation or a comment, which must be closed first.
    for end in ["", "\\E", "\n"] {
      let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern)\(end))\\z", options: options)
      if let expression { return expression }
    }
    return nil
  }
}

/// The elements of a constant collection. They are hashed when the first value is compared with them: a predicate that
/// is only checked, or tested where its values lie, compares none.
private final class ConstantMembers {
  private final class Hashed {
    let members: Set<PredicateValue>
    /// Those whose equality may change.
    let others: [PredicateValue]

    init(_ elements: [PredicateValue]) {
      others = elements.filter { !$0.hasFixedIdentity }
      members = Set(others.isEmpty ? elements : elements.filter(\.hasFixedIdentity))
    }
  }

  private let elements: [PredicateValue]
  private let hashed = AtomicLazyReference<Hashed>()

  init(_ elements: [PredicateValue]) { self.elements = elements }

  func contain(_ value: PredicateValue, _ areEqual: (PredicateValue, PredicateValue) -> Bool) -> Bool {
    let hashed = hashed.load() ?? hashed.storeIfNil(Hashed(elements))
    return hashed.members.contains(value) || hashed.others.contains { areEqual(value, $0) }
  }
}
