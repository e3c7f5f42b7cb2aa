import Foundation

/// A compound predicate with correct format, equality and hash, which Foundation's own lacks if made from parts.
final class CompoundPredicate: NSCompoundPredicate {
  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    return TreeEquality.equal(self, other)
  }

  override var hash: Int { TreeEquality.hash(of: self) }

  override var predicateFormat: String { FormatPrinter.text(of: self) }

  override var description: String { predicateFormat }
}

extension NSPredicate {
  /// An equal predicate in which a ``CompoundPredicate`` replaces each of Foundation's compounds; the predicate itself
  /// if it contains none of them.
  ///
  /// Every property that stores a predicate stores this one. Compounds of other subclasses are not replaced.
  var adopted: NSPredicate {
    guard let compound = self as? NSCompoundPredicate,
      type(of: compound) == NSCompoundPredicate.self || type(of: compound) == CompoundPredicate.self
    else { return self }
    let parts = compound.subpredicates.map(\.adopted)
    if compound is CompoundPredicate, parts.elementsEqual(compound.subpredicates, by: ===) { return self }
    return CompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
  }
}
