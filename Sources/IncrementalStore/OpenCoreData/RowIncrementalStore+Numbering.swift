package import OpenCoreData

extension RowIncrementalStore: SaveNumberingStore {}

extension RowIncrementalStore: ComparingStore {
  package var comparesRows: Bool { savesKnownRows }

  package func readRows(of objectIDs: [NSManagedObjectID]) throws -> Bool {
    let snapshot = try rows.snapshot()
    guard snapshot.isRemote else { return false }
    for (table, objects) in Dictionary(
      grouping: try objectIDs.map { (id: $0, reference: try access.reference($0)) }, by: \.reference.entity)
    {
      for (object, row) in zip(objects, try snapshot.rows(objects.map(\.reference.reference), in: table)) {
        if let row { cache.set(CachedRow(row), of: object.id) } else { cache.remove(object.id) }
      }
    }
    return true
  }
}
