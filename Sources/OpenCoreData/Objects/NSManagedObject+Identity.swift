import Foundation

/// Predicates compare an object with its identifier, and so with what stands for it in a store.
extension NSManagedObject: Identified {
  package var predicateIdentity: AnyHashable { objectID }
}
