package import Cairn
package import RowFormat

extension ObjectStore {
  /// Calls `body` with the transactions of the history, the newest first, and with an error for each row that is not
  /// one.
  package func forEachTransaction(
    _ body: (_ number: UInt64, Result<HistoryRecord, any Error>) throws -> ScanStep
  ) throws {
    try forEachRow(of: HistoryRecord.table, reverse: true) { key, bytes in
      guard case .integer(let signed) = key, let number = UInt64(exactly: signed) else {
        return try body(0, .failure(StoreError(.corrupted, "a transaction has the number \(key.literal)")))
      }
      return try body(
        number,
        Result {
          try Self.reading("transaction \(number)") { () throws(RowDamage) in
            try HistoryRecord(bytes, withChanges: true)
          }
        })
    }
  }
}

extension ObjectNames {
  /// The name of a property; `property 7` if the schema does not have it.
  package func propertyName(_ number: UInt32) -> String {
    index.properties[number]?.property.name ?? "property \(number)"
  }

  /// The values of the fields of a row; those that a deleted object has left, for instance.
  package func values(ofFields row: [UInt8]) throws -> [NamedValue] { try row.isEmpty ? [] : values(in: row) }
}
