public import Foundation
import Synchronization

/// A predicate that compares the values of two expressions.
///
/// Comparisons never change. Several threads may inspect and evaluate one at the same time if its constants and blocks
/// allow that.
///
/// Foundation declares an empty class of this name. A file that imports both Foundation and Core Data and uses the name
/// must say which class it means: with `OpenCoreData.NSComparisonPredicate` at each use, or with
/// `import class OpenCoreData.NSComparisonPredicate` once at its top.
open class NSComparisonPredicate: NSPredicate {
  /// What is compared if the left value is a collection.
  public enum Modifier: UInt, Sendable {
    /// The values as they are.
    case direct = 0
    /// Each element; all must satisfy the comparison.
    case all = 1
    /// Each element; at least one must satisfy the comparison.
    case any = 2
  }

  /// How values are compared.
  public enum Operator: UInt, Sendable {
    /// `<`
    case lessThan = 0
    /// `<=`
    case lessThanOrEqualTo = 1
    /// `>`
    case greaterThan = 2
    /// `>=`
    case greaterThanOrEqualTo = 3
    /// `==`
    case equalTo = 4
    /// `!=`
    case notEqualTo = 5
    /// `MATCHES`: the whole left string matches a regular expression.
    case matches = 6
    /// `LIKE`: the whole left string matches a pattern with `?` and `*`.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// `IN`: the left value is an element of the right collection, or a part of the right string.
    case `in` = 10
    /// `CONTAINS`: the right value is an element of the left collection, or a part of the left string.
    case contains = 99
    /// `BETWEEN`: the left value is not less than the first nor greater than the second of two right values.
    case between = 100
  }

  /// How strings are compared.
  public struct Options: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Options of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// `[c]`: upper and lower case are the same.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: letters with and without diacritics are the same.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: strings are compared as they are, scalar by scalar, because they have already been normalised. All other
    /// options are ignored then, except `[c]` by `MATCHES`.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: case, diacritics and order are those of the current locale.
    public static let localeSensitive = Options(rawValue: 8)
  }

  /// The left operand.
  public let leftExpression: NSExpression
  /// The right operand.
  public let rightExpression: NSExpression
  /// Whether the left value is compared as it is, or each of its elements.
  public let comparisonPredicateModifier: Modifier
  /// The operator that compares the two values.
  public let predicateOperatorType: Operator
  /// How strings are compared.
  public let options: Options

  /// The compiled comparison; nil until the first evaluation.
  private let evaluator = AtomicLazyReference<ObjectPredicate>()

  /// A comparison of two expressions.
  public init(
    leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier, type: Operator,
    options: Options = []
  ) {
    self.leftExpression = leftExpression
    self.rightExpression = rightExpression
    comparisonPredicateModifier = modifier
    predicateOperatorType = type
    self.options = options
    super.init { _, _ in false }
  }

  /// Whether the comparison holds for an object.
  ///
  /// Traps if the comparison cannot be evaluated: if a variable has no value, if a constant regular expression is
  /// invalid, or if an expression is supported by other stores only. ``CompiledPredicate`` throws instead.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    let evaluator = evaluator.load() ?? evaluator.storeIfNil(ObjectPredicate(trapping: self))
    return evaluator.evaluate(with: object, variables: bindings)
  }

  /// The predicate itself, because it never changes.
  open override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is a comparison with equal expressions and the same operator, modifier and options.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    return TreeEquality.equal(self, other)
  }

  /// Equal comparisons have equal hashes.
  open override var hash: Int { TreeEquality.hash(of: self) }

  /// The predicate in the format language.
  open override var predicateFormat: String { FormatPrinter.text(of: self) }

  /// The predicate in the format language.
  open override var description: String { predicateFormat }
}
