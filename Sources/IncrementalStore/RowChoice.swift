import CoreData

/// The rows of a table for which a predicate can hold, as far as the predicate names objects.
enum RowChoice {
  case all
  /// The rows from a reference on, for `SELF > %@` and `SELF >= %@`, also with `objectID` in the place of `SELF`. The
  /// predicate is still evaluated for each of them.
  case from(RowReference)
  /// The rows of the given objects, in order, for `SELF == %@` and `SELF IN %@`, also with `objectID` in the place of
  /// `SELF`.
  case these([ObjectReference])

  init(_ predicate: NSPredicate?, _ store: RowIncrementalStore) {
    self = .all
    if let compound = predicate as? NSCompoundPredicate {
      guard compound.compoundPredicateType == .and else { return }
      for part in compound.parts { self = narrowed(by: RowChoice(part, store)) }
      return
    }
    guard let comparison = predicate as? NSComparisonPredicate, comparison.leftExpression.isIdentity,
      comparison.rightExpression.expressionType == .constantValue,
      comparison.comparisonPredicateModifier == .direct
    else { return }
    let constant = comparison.rightExpression.constantValue
    switch comparison.predicateOperatorType {
    case .greaterThan, .greaterThanOrEqualTo:
      if let object = Self.reference(constant, store) { self = .from(object.reference) }
    case .equalTo:
      if let object = Self.reference(constant, store) { self = .these([object]) }
    case .in:
      guard let elements = Self.elements(constant) else { return }
      let objects = elements.compactMap { Self.reference($0, store) }
      if objects.count == elements.count { self = .these(Set(objects).sorted { $0.reference < $1.reference }) }
    default: break
    }
  }

  /// Whether the predicate from which the choice was made holds for all chosen rows, so that it need not be evaluated.
  func isAll(of predicate: NSPredicate?) -> Bool {
    if case .these = self { predicate is NSComparisonPredicate } else { false }
  }

  private func narrowed(by other: RowChoice) -> RowChoice {
    switch (self, other) {
    case (.all, let choice), (let choice, .all): choice
    case (.from(let one), .from(let other)): .from(max(one, other))
    case (.these(let these), .from(let first)), (.from(let first), .these(let these)):
      .these(these.filter { $0.reference >= first })
    case (.these(let one), .these(let other)): .these(one.filter(Set(other).contains))
    }
  }

  static func elements(_ collection: Any?) -> [Any]? {
    switch collection {
    case let array as [Any]: array
    case let array as NSArray: Array(array)
    case let set as Set<NSManagedObject>: Array(set)
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    default: nil
    }
  }

  /// Nil for a constant that is not an object of the store.
  private static func reference(_ constant: Any?, _ store: RowIncrementalStore) -> ObjectReference? {
    let id = (constant as? NSManagedObject)?.objectID ?? constant as? NSManagedObjectID
    guard let id, id.persistentStore === store else { return nil }
    return try? store.access.reference(id)
  }
}

extension NSCompoundPredicate {
  /// The subpredicates. Apple's Foundation declares them as `[Any]`.
  var parts: [NSPredicate] { (subpredicates as [Any]).compactMap { $0 as? NSPredicate } }
}

extension NSExpression {
  /// Whether the expression is the evaluated object or its identifier.
  fileprivate var isIdentity: Bool {
    expressionType == .evaluatedObject || expressionType == .keyPath && ["self", "objectID"].contains(keyPath)
  }
}

extension RowSnapshot {
  /// Calls `body` with the chosen rows of a table in the order of the references, until it returns false.
  func forEachRow(
    in table: UInt32, _ choice: RowChoice, _ body: (inout StoredRow) throws -> Bool
  ) throws {
    switch choice {
    case .all: try forEachRow(in: table, from: nil, body)
    case .from(let first): try forEachRow(in: table, from: first, body)
    case .these(let objects):
      for object in objects where object.entity == table {
        guard var row = try row(object.reference, in: table) else { continue }
        guard try body(&row) else { return }
      }
    }
  }
}
