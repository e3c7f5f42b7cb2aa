import OpenCoreData

/// OpenCoreData's contexts take all values of a row at once.
extension RowNode: ManagedRow {
  static let givesAllValues = true

  func managedRow() throws -> (values: [ManagedValue], version: UInt64, revision: UInt64?) {
    try lock.withLock {
      let values = try content.values.take() ?? values(of: content.row)
      content.isChecked = true
      return (values, content.row.version, content.row.revision)
    }
  }

  var revision: UInt64? { row.revision }
}
