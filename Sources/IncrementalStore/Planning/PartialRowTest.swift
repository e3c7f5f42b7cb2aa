import CoreData

/// Whether what a predicate asks for is known of an object that is not loaded in whole. Otherwise nothing can be said
/// of the object, and no fetch with the predicate finds it.
struct PartialRowTest {
  /// The properties of the object itself that the predicate reads; nil if it may read any.
  private let keys: Set<String>?

  /// Nil if the store has only whole rows, or there is no predicate.
  init?(_ predicate: NSPredicate?, _ source: RowSource) {
    guard source.rows.hasPartialRows, let predicate else { return nil }
    var keys: Set<String> = []
    self.keys = predicate.collectKeys(into: &keys) ? keys : nil
  }

  func isKnown(_ row: [UInt8], of map: EntityMap) -> Bool {
    guard FieldReader.isPartial(row) else { return true }
    guard let keys else { return false }
    return keys.allSatisfy { key in
      if let field = map.field(named: key) { return (try? FieldReader.field(field.number, of: row)) != nil }
      return map.set(named: key) != nil
    }
  }
}

extension NSPredicate {
  /// Returns false if the predicate may read anything.
  fileprivate func collectKeys(into keys: inout Set<String>) -> Bool {
    switch self {
    case let compound as NSCompoundPredicate:
      for part in compound.parts { guard part.collectKeys(into: &keys) else { return false } }
      return true
    case let comparison as NSComparisonPredicate:
      return comparison.leftExpression.collectKeys(into: &keys)
        && comparison.rightExpression.collectKeys(into: &keys)
    default: return false
    }
  }
}

extension NSExpression {
  fileprivate func collectKeys(into keys: inout Set<String>) -> Bool {
    if isIdentity || isConstant { return true }
    switch expressionType {
    case .keyPath:
      keys.insert(keyPath.split(separator: ".").first.map(String.init) ?? keyPath)
      return true
    case .aggregate:
      for part in collection as? [NSExpression] ?? [] { guard part.collectKeys(into: &keys) else { return false } }
      return collection is [NSExpression]
    default: return false
    }
  }
}
