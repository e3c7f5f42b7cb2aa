package import CoreData

/// A comparison that is true if something about an object equals one of several constants.
package struct Membership {
  package enum Subject {
    /// The object itself, or its identifier.
    case identity
    /// The value of a property.
    case value(String)
    /// An element of the value of a property.
    case element(String)
  }

  package let subject: Subject
  /// The constants if they are given as a Swift array of identifiers; nil for any other collection.
  package let ids: [NSManagedObjectID]?
  private let values: [Any?]
  /// Whether strings are compared without options.
  let isExact: Bool

  /// - Complexity: O(number of constants).
  package var constants: [Any?] { ids.map { $0.map { $0 as Any? } } ?? values }

  /// Nil if a comparison is not of this kind.
  package init?(_ comparison: NSComparisonPredicate) {
    let (left, right) = (comparison.leftExpression, comparison.rightExpression)
    // To make optionals of identifiers takes longer than to find their objects.
    let ids = comparison.predicateOperatorType == .in ? right.identifiers : nil
    let parts: (NSExpression, [Any?]?, isOfElement: Bool) =
      switch (comparison.predicateOperatorType, comparison.comparisonPredicateModifier) {
      case (.equalTo, .direct): right.isConstant ? (left, right.single, false) : (right, left.single, false)
      case (.in, .direct) where left.isConstant: (right, left.single, true)
      case (.in, .direct): (left, ids.map { _ in [] } ?? right.several, false)
      case (.equalTo, .any), (.contains, .direct): (left, right.single, true)
      case (.in, .any): (left, ids.map { _ in [] } ?? right.several, true)
      default: (left, nil, false)
      }
    guard let values = parts.1, let subject = Self.subject(parts.0, parts.isOfElement) else { return nil }
    self.subject = subject
    self.ids = left.isConstant ? nil : ids
    self.values = values
    isExact = comparison.options.isEmpty
  }

  private static func subject(_ expression: NSExpression, _ isOfElement: Bool) -> Subject? {
    if expression.isIdentity { return isOfElement ? nil : .identity }
    guard var path = expression.path else { return nil }
    if path.utf8.contains(UInt8(ascii: ".")) {
      // An object equals its identifier.
      guard path.hasSuffix(".objectID") else { return nil }
      path.removeLast(".objectID".count)
      guard !path.utf8.contains(UInt8(ascii: ".")) else { return nil }
    }
    return isOfElement ? .element(path) : .value(path)
  }
}

extension NSComparisonPredicate {
  /// Whether the comparison is with constants, and is not true if the left value is nil.
  var isFalseForNil: Bool {
    switch predicateOperatorType {
    case .equalTo: rightExpression.single.map(Self.areValues) ?? false
    case .in: rightExpression.several.map(Self.areValues) ?? false
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between, .beginsWith, .endsWith, .like,
      .matches:
      rightExpression.isConstant || rightExpression.several != nil
    default: false
    }
  }

  private static func areValues(_ constants: [Any?]) -> Bool { constants.allSatisfy { $0 != nil && !($0 is NSNull) } }
}

extension NSPredicate {
  /// The predicates that must all be satisfied: the parts of an `AND`, and of those among them that are an `AND`
  /// themselves.
  var conjuncts: [NSPredicate] {
    guard let compound = self as? NSCompoundPredicate, isConjunction else { return [self] }
    return compound.parts.flatMap(\.conjuncts)
  }

  private var isConjunction: Bool { (self as? NSCompoundPredicate)?.compoundPredicateType == .and }
  var isDisjunction: Bool { (self as? NSCompoundPredicate)?.compoundPredicateType == .or }

  /// Whether evaluating the predicate for an object reads other rows, or the entries of a to-many relationship.
  func readsRelationships(of map: EntityMap) -> Bool {
    switch self {
    case let compound as NSCompoundPredicate: compound.parts.contains { $0.readsRelationships(of: map) }
    case let comparison as NSComparisonPredicate:
      comparison.leftExpression.readsRelationships(of: map) || comparison.rightExpression.readsRelationships(of: map)
    default: false
    }
  }
}

extension NSExpression {
  func readsRelationships(of map: EntityMap) -> Bool {
    switch expressionType {
    case .keyPath: keyPath.utf8.contains(UInt8(ascii: ".")) || map.set(named: keyPath) != nil
    case .function: ([operand] + (arguments ?? [])).contains { $0.readsRelationships(of: map) }
    case .subquery: true
    default: false
    }
  }
}

extension NSCompoundPredicate {
  /// The subpredicates. Apple's Foundation declares them as `[Any]`.
  var parts: [NSPredicate] { (subpredicates as [Any]).compactMap { $0 as? NSPredicate } }
}

extension NSExpression {
  /// Whether the expression is the evaluated object or its identifier.
  package var isIdentity: Bool {
    switch expressionType {
    case .evaluatedObject: true
    case .keyPath: keyPath == "self" || keyPath == "objectID"
    default: false
    }
  }

  /// The key path; nil if the expression is something else.
  var path: String? { expressionType == .keyPath ? keyPath : nil }

  var isConstant: Bool { expressionType == .constantValue }

  /// The value of a constant; nil if it is nil, or if the expression is something else.
  var constant: Any? { isConstant ? constantValue : nil }

  /// The value of a constant, in an array; nil if the expression is something else.
  var single: [Any?]? { isConstant ? [constantValue] : nil }

  /// The elements of a constant Swift array of identifiers; nil if the expression is something else.
  fileprivate var identifiers: [NSManagedObjectID]? {
    // A collection of Foundation's would be converted.
    guard let value = constant, !(type(of: value) is AnyClass) else { return nil }
    return value as? [NSManagedObjectID]
  }

  /// The elements of a constant collection, or of a list of constants; nil if the expression is something else.
  var several: [Any?]? {
    // A conversion of the array would cast each element.
    if isConstant { return Self.elements(of: constantValue)?.map(Optional.some) }
    guard expressionType == .aggregate, let parts = collection as? [NSExpression], parts.allSatisfy(\.isConstant)
    else { return nil }
    return parts.map(\.constantValue)
  }

  package static func elements(of collection: Any?) -> [Any]? {
    guard let collection else { return nil }
    // Foundation makes an empty Swift set of a set of a class that is not its own.
    guard !(type(of: collection) is AnyClass) else {
      return switch collection {
      case let array as NSArray: Array(array)
      case let set as NSSet: set.allObjects
      case let set as NSOrderedSet: set.array
      default: nil
      }
    }
    return switch collection {
    case let array as [Any]: array
    case let set as Set<AnyHashable>: set.map(\.base)
    default: nil
    }
  }
}

extension NSManagedObjectID {
  /// The identifier that a constant is or has; nil if the constant is no object.
  package static func identifying(_ constant: Any?) -> NSManagedObjectID? {
    constant as? NSManagedObjectID ?? (constant as? NSManagedObject)?.objectID
  }
}
