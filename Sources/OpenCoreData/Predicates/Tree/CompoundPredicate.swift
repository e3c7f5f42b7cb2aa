import Foundation

/// A compound predicate that knows its format and its equals, which Foundation's own does not.
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
  /// The same predicate, in which no compound is Foundation's own; itself if that is so already.
  ///
  /// Whatever keeps a predicate keeps this one. Compounds of a subclass stay as they are.
  var adopted: NSPredicate {
    guard let compound = self as? NSCompoundPredicate,
      type(of: compound) == NSCompoundPredicate.self || type(of: compound) == CompoundPredicate.self
    else { return self }
    let parts = compound.subpredicates.map(\.adopted)
    if compound is CompoundPredicate, parts.elementsEqual(compound.subpredicates, by: ===) { return self }
    return CompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
  }
}
