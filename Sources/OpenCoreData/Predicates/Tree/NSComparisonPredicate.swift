public import Foundation

/// A predicate that compares the values of two expressions.
///
/// Comparisons never change. Several threads may inspect and evaluate one at the same time if they may so use the constants and blocks in it.
///
/// Foundation declares a class of this name that does nothing. A file that imports Foundation beside Core Data and names the type says
/// which it means: `OpenCoreData.NSComparisonPredicate`, or once at its top `import class OpenCoreData.NSComparisonPredicate`.
open class NSComparisonPredicate: NSPredicate {
  /// What is compared if the left expression is a collection.
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
    /// `MATCHES`: the whole of a string, by a regular expression.
    case matches = 6
    /// `LIKE`: the whole of a string, by a pattern with `?` and `*`.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// `IN`: an element of a collection, or a part of a string.
    case `in` = 10
    /// `CONTAINS`: the other way round.
    case contains = 99
    /// `BETWEEN`: not less than the first nor more than the second of two values.
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
    /// `[n]`: strings are compared as they are, scalar by scalar, for they have been normalised already. Excludes all others.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: case, diacritics and order are those of the current locale.
    public static let localeSensitive = Options(rawValue: 8)
  }

  /// What is on the left.
  public let leftExpression: NSExpression
  /// What is on the right.
  public let rightExpression: NSExpression
  /// Whether the left is compared as it is, or each element of it.
  public let comparisonPredicateModifier: Modifier
  /// How the two are compared.
  public let predicateOperatorType: Operator
  /// How strings are compared.
  public let options: Options

  /// What evaluates the comparison, from the first time on.
  private let evaluator = Locked<ObjectPredicate?>(nil)

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
  /// Traps if it cannot be evaluated at all: for a variable without a value, a regular expression that is none, an expression that is for
  /// other stores only. ``CompiledPredicate`` throws instead.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    let evaluator = evaluator.withLock { known in
      if let known { return known }
      let made = ObjectPredicate(trapping: self)
      known = made
      return made
    }
    return evaluator.evaluate(with: object, variables: bindings)
  }

  /// The same predicate: it never changes.
  open override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other compares equal expressions in the same way.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    return TreeEquality.equal(self, other)
  }

  /// Equal for equal comparisons.
  open override var hash: Int { TreeEquality.hash(of: self) }

  /// The predicate in the format language.
  open override var predicateFormat: String { FormatPrinter.text(of: self) }

  /// The predicate in the format language.
  open override var description: String { predicateFormat }
}
