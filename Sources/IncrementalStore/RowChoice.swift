import CoreData

/// Which rows of a table a predicate can hold for, as far as it names objects.
enum RowChoice {
  case all
  /// Those of `SELF > %@`, and of `SELF >= %@`, which is looked at more closely later; as of `objectID`.
  case from(RowReference)
  /// Those of `SELF == %@` and `SELF IN %@`, in their order; as of `objectID`.
  case these([RowReference])

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
      if let reference = Self.reference(constant, store) { self = .from(reference) }
    case .equalTo:
      if let reference = Self.reference(constant, store) { self = .these([reference]) }
    case .in:
      guard let elements = Self.elements(constant) else { return }
      let references = elements.map { Self.reference($0, store) }
      if references.allSatisfy({ $0 != nil }) { self = .these(Set(references.compactMap { $0 }).sorted()) }
    default: break
    }
  }

  private func narrowed(by other: RowChoice) -> RowChoice {
    switch (self, other) {
    case (.all, let choice), (let choice, .all): choice
    case (.from(let one), .from(let other)): .from(max(one, other))
    case (.these(let these), .from(let first)), (.from(let first), .these(let these)):
      .these(these.filter { $0 >= first })
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

  /// Nil for what is no object of the store.
  private static func reference(_ constant: Any?, _ store: RowIncrementalStore) -> RowReference? {
    let id = (constant as? NSManagedObject)?.objectID ?? constant as? NSManagedObjectID
    guard let id, id.persistentStore === store else { return nil }
    return try? store.access.reference(id).reference
  }
}

extension NSCompoundPredicate {
  /// Apple's Foundation declares them as values of any type.
  var parts: [NSPredicate] { (subpredicates as [Any]).compactMap { $0 as? NSPredicate } }
}

extension NSExpression {
  /// Whether it is what identifies the evaluated object.
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
    case .these(let references):
      for reference in references {
        guard var row = try row(reference, in: table) else { continue }
        guard try body(&row) else { return }
      }
    }
  }
}
