import Foundation

/// Predicates compare an object by its identifier, and so with the value that represents it in a store.
extension NSManagedObject: Identified {
  package var predicateIdentity: AnyHashable { objectID }
}
