import CoreData

extension NSManagedObjectContext {
  /// Apple's contexts take no rows with a fetch: the fault reads its row from the row cache.
  func object(_ id: NSManagedObjectID, of row: CachedRow, _ map: EntityMap, _ rows: RowAccess) -> NSManagedObject {
    object(with: id)
  }
}
