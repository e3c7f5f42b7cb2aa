public import Foundation

/// An operand of a predicate: a constant, a key path, a function of other expressions, and so on.
///
/// Expressions never change. Several threads may read and evaluate one at the same time if its constants and blocks
/// allow that.
///
/// Foundation declares an empty class of this name. A file that imports both Foundation and Core Data and uses the name
/// must say which class it means: with `OpenCoreData.NSExpression` at each use, or with
/// `import class OpenCoreData.NSExpression` once at its top.
open class NSExpression: NSObject, NSCopying {
  /// The types of expressions.
  public enum ExpressionType: UInt, Sendable {
    /// A value that never changes.
    case constantValue = 0
    /// The object that the predicate is evaluated with: `SELF`.
    case evaluatedObject = 1
    /// A variable, whose value is given by name at evaluation: `$NAME`.
    case variable = 2
    /// A key path: each key is read from the value of the key before it.
    case keyPath = 3
    /// A function of other expressions.
    case function = 4
    /// The elements that are in at least one of two collections.
    case unionSet = 5
    /// The elements that are in both of two collections.
    case intersectSet = 6
    /// The elements that are in the first of two collections, but not in the second.
    case minusSet = 7
    /// The elements of a collection for which a predicate is true.
    case subquery = 13
    /// Several expressions as one collection.
    case aggregate = 14
    /// Any key of an object. Only other stores support it.
    case anyKey = 15
    /// The results of a fetch request: an ``NSFetchRequestExpression``.
    case fetchRequest = 50
    /// The value that a block returns.
    case block = 19
    /// One of two expressions, chosen by a predicate.
    case conditional = 20
  }

  /// The block of a block expression. It gets the evaluated object, the values of its arguments, and the values of the
  /// variables.
  public typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any

  /// The forms of expressions, with their parts.
  enum Form {
    case constant(Any?)
    case evaluatedObject
    case variable(String)
    case keyPath(String)
    case function(Function, [NSExpression])
    case path(String, of: NSExpression)
    case call(NSExpression, name: String, [NSExpression])
    case fetch(NSExpression, context: NSExpression, isCount: Bool)
    case aggregate([NSExpression])
    case set(SetOperation, NSExpression, NSExpression)
    case subquery(NSExpression, variable: String, NSPredicate)
    case anyKey
    case block(Block, [NSExpression])
    case conditional(NSPredicate, NSExpression, NSExpression)
  }

  final var form: Form { swiftKeyPath.map { .keyPath($0.key) } ?? givenForm }

  private let givenForm: Form
  private let swiftKeyPath: KeyPathName?

  init(_ form: Form) { (givenForm, swiftKeyPath) = (form, nil) }

  init(_ keyPath: KeyPathName) { (givenForm, swiftKeyPath) = (.evaluatedObject, keyPath) }

  /// The evaluated object, or any key. Traps for other types, because their expressions have initialisers of their own.
  public init(expressionType type: ExpressionType) {
    swiftKeyPath = nil
    switch type {
    case .evaluatedObject: givenForm = .evaluatedObject
    case .anyKey: givenForm = .anyKey
    default: fatalError("an expression of type \(type) has an initialiser of its own")
    }
  }

  /// The type of the expression.
  open var expressionType: ExpressionType {
    switch form {
    case .constant: .constantValue
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath: .keyPath
    case .function, .path, .call: .function
    case .fetch: .fetchRequest
    case .aggregate: .aggregate
    case .set(.union, _, _): .unionSet
    case .set(.intersect, _, _): .intersectSet
    case .set(.minus, _, _): .minusSet
    case .subquery: .subquery
    case .anyKey: .anyKey
    case .block: .block
    case .conditional: .conditional
    }
  }

  /// The expression itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is an expression of the same form with equal parts.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSExpression else { return false }
    return self === other || TreeEquality.equal(form, other.form)
  }

  /// Equal expressions have equal hashes.
  open override var hash: Int { TreeEquality.hash(of: self) }

  /// The expression in the format language.
  open override var description: String { FormatPrinter.side(self) }
}

/// The operations on two collections.
enum SetOperation: String, CaseIterable {
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
}

/// An index that is written as a word, as in `names[FIRST]`.
enum SymbolicIndex: String, CaseIterable, CustomStringConvertible {
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"

  var description: String { rawValue }
}
