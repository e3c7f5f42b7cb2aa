/// A store that reads the members of a relationship of many objects together in less time than one after the other.
package protocol RelatingStore: NSIncrementalStore {
  /// The identifiers of the members of a to-many relationship, for each object in the order of `objectIDs`; nil for an
  /// object without a row.
  func members(
    of relationship: NSRelationshipDescription, ofObjectsWith objectIDs: [NSManagedObjectID],
    _ context: NSManagedObjectContext
  ) throws -> [[NSManagedObjectID]?]
}

extension NSPersistentStoreCoordinator {
  /// The identifiers of the members of a to-many relationship, for each of some objects; nil for those without a row,
  /// and for all if their store cannot read them together.
  ///
  /// - Throws: Any error of the store.
  func members(
    of relationship: NSRelationshipDescription, of objectIDs: [NSManagedObjectID], _ context: NSManagedObjectContext
  ) throws -> [[NSManagedObjectID]?] {
    try withStoresToRead {
      guard let store = objectIDs.first.flatMap(presentStore) as? any RelatingStore, !(store is any LoadingStore),
        objectIDs.allSatisfy({ $0.identity === store.identity })
      else { return objectIDs.map { _ in nil } }
      return try store.members(of: relationship, ofObjectsWith: objectIDs, context)
    }
  }
}
