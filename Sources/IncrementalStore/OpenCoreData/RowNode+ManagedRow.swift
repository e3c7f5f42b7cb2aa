import OpenCoreData

/// OpenCoreData's contexts take all values of a row at once.
extension RowNode: ManagedRow {
  static let givesAllValues = true

  func managedRow() throws -> (values: RowValues, version: UInt64, revision: UInt64?) {
    try lock.withLock {
      let values: RowValues =
        if let values = content.values.take() {
          .decoded(values)
        } else if meetsRules {
          .encoded(EncodedRow(content.row.bytes, of: objectID, rows))
        } else {
          .decoded(try self.values(of: content.row))
        }
      content.isChecked = true
      return (values, content.row.version, content.row.revision)
    }
  }

  var revision: UInt64? { row.revision }
}
