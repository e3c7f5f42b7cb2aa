import Foundation

/// A compound predicate that knows its format and its equals, which Foundation's own does not.
final class CompoundPredicate: NSCompoundPredicate {
  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    return TreeEquality.equal(self, other)
  }

  override var hash: Int { compoundPredicateType.rawValue.hashValue }

  override var predicateFormat: String { FormatPrinter.text(of: self) }

  override var description: String { predicateFormat }
}
