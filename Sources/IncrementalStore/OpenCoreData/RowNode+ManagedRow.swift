import OpenCoreData

/// OpenCoreData's contexts take all values of a row at once.
extension RowNode: ManagedRow {
  static let givesAllValues = true

  func managedRow() throws -> (values: RowValues, version: UInt64, revision: UInt64?) {
    try lock.withLock {
      try checkContent()
      let values: RowValues =
        if content.meetsRules == true {
          .encoded(EncodedRow(content.row.bytes, of: objectID, rows))
        } else {
          .decoded(try content.values.take() ?? self.values(of: content.row))
        }
      return (values, content.row.version, content.row.revision)
    }
  }

  var revision: UInt64? { row.revision }
}
