import OpenCoreData

extension RowNode: ManagedRowNode {
  var managedRow: ManagedRow { rows.managedRow(row, of: objectID, decoded) }
}

extension NSManagedObjectContext {
  /// The object of a row that a fetch has found, which takes the row unless it has one.
  func object(_ id: NSManagedObjectID, of row: CachedRow, _ map: EntityMap, _ rows: RowAccess) -> NSManagedObject {
    object(with: id) { rows.managedRow(row, of: id, try rows.decodedToCheck(row.bytes, of: id, map)) }
  }
}

extension RowAccess {
  fileprivate func managedRow(
    _ row: CachedRow, of id: NSManagedObjectID, _ decoded: [ManagedValue]?
  ) -> ManagedRow {
    ManagedRow(
      decoded.map { .decoded($0) } ?? .encoded(EncodedRow(row.bytes, of: id, self)),
      version: row.version, revision: row.revision)
  }
}
