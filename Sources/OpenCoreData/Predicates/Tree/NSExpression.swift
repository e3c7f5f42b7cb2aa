public import Foundation

/// What a predicate compares: a constant, a key path, a function of other expressions.
///
/// Expressions never change. Several threads may read and evaluate one at the same time if they may so use the constants and blocks in it.
///
/// Foundation declares a class of this name that does nothing. A file that imports Foundation beside Core Data and names the type says
/// which it means: `OpenCoreData.NSExpression`, or once at its top `import class OpenCoreData.NSExpression`.
open class NSExpression: NSObject, NSCopying {
  /// What an expression is.
  public enum ExpressionType: UInt, Sendable {
    /// A value that never changes.
    case constantValue = 0
    /// The object that the predicate is evaluated with: `SELF`.
    case evaluatedObject = 1
    /// A value given by name on evaluation: `$NAME`.
    case variable = 2
    /// Values for keys, read one from the other.
    case keyPath = 3
    /// A function of other expressions.
    case function = 4
    /// What is in either of two collections.
    case unionSet = 5
    /// What is in both of two collections.
    case intersectSet = 6
    /// What is in the first of two collections and not in the second.
    case minusSet = 7
    /// The elements of a collection for which a predicate holds.
    case subquery = 13
    /// Several expressions as one collection.
    case aggregate = 14
    /// Any key of an object, which only other stores understand.
    case anyKey = 15
    /// What a block returns.
    case block = 19
    /// One of two expressions, as a predicate says.
    case conditional = 20
  }

  /// What a block expression calls: with the evaluated object, the values of its arguments, and the substitution variables.
  public typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any

  /// All that expressions can be.
  enum Form {
    case constant(Any?)
    case evaluatedObject
    case variable(String)
    case keyPath(String)
    case function(Function, [NSExpression])
    case path(String, of: NSExpression)
    case aggregate([NSExpression])
    case set(SetOperation, NSExpression, NSExpression)
    case subquery(NSExpression, variable: String, NSPredicate)
    case anyKey
    case block(Block, [NSExpression])
    case conditional(NSPredicate, NSExpression, NSExpression)
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  /// The evaluated object, or any key; every other expression has an initialiser of its own.
  public init(expressionType type: ExpressionType) {
    switch type {
    case .evaluatedObject: form = .evaluatedObject
    case .anyKey: form = .anyKey
    default: preconditionFailure("an expression of type \(type) has an initialiser of its own")
    }
  }

  /// What the expression is.
  open var expressionType: ExpressionType {
    switch form {
    case .constant: .constantValue
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath: .keyPath
    case .function, .path: .function
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

  /// The same expression: it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other is an expression of the same form and parts.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSExpression else { return false }
    return self === other || TreeEquality.equal(form, other.form)
  }

  /// Equal for equal expressions.
  open override var hash: Int { TreeEquality.hash(of: self) }

  /// The expression in the format language.
  open override var description: String { FormatPrinter.side(self) }
}

/// What can be made of two collections.
enum SetOperation: String, CaseIterable {
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
}

/// An index with a meaning of its own, as in `names[FIRST]`.
enum SymbolicIndex: String, CaseIterable, CustomStringConvertible {
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"

  var description: String { rawValue }
}
