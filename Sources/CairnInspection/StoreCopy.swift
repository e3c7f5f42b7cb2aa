package import Cairn

/// Copies the needed contents of a store into a new one: the rows with their versions and sequences, and older versions
/// where they are kept.
package enum StoreCopy {
  /// - Parameters:
  ///   - recompressing: Whether values are compressed anew, with dictionaries trained from the present values, instead
  ///     of being copied as they are stored.
  ///   - progress: Called with the number of copied rows and of all rows; false ends the copy with `cancelled`.
  /// - Throws: `alreadyExists` if something is at the path; `corrupted`, `noSpace`, `inputOutput`. After an error,
  ///   there is no new store.
  package static func copy(
    _ store: Store, to path: String, segmentSize: Int, recompressing: Bool, progress: InspectionProgress? = nil
  ) throws -> NewStore.Contents {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    let total = store.statistics.rows
    var rows = 0
    return try NewStore.make(at: path, lastSequence: snapshot.sequence, segmentSize: segmentSize) { new in
      for keyspace in store.keyspaces {
        try new.add(
          Manifest.Keyspace(
            id: keyspace.id, isOrdered: keyspace.order == .ordered, definedAt: keyspace.definedAt, name: keyspace.name,
            oldVersions: UInt32(keyspace.retention.count - 1)))
        if !recompressing {
          for dictionary in snapshot.dictionaries(of: keyspace) {
            try new.add(dictionary: dictionary.id, dictionary.content, keyspace: keyspace.id)
          }
        }
        func add(_ records: [RecordView]) throws -> ScanStep {
          for (number, record) in records.enumerated() {
            if recompressing {
              try new.add(valueOf: record, in: snapshot, isOld: number > 0)
            } else {
              try new.add(copyOf: record, isOld: number > 0)
            }
          }
          rows += 1
          guard rows % 1024 != 0 || progress?(rows, total) ?? true else {
            throw StoreError(.cancelled, "copying was cancelled")
          }
          return .next
        }
        if keyspace.retention == .newest {
          try snapshot.forEachRecord(in: keyspace) { try add([$0]) }
        } else {
          try snapshot.forEachHistory(in: keyspace, add)
        }
      }
    }
  }
}

extension NewStore {
  fileprivate mutating func add(valueOf record: RecordView, in snapshot: Snapshot, isOld: Bool) throws {
    var value: [UInt8]?
    if record.header.isPut { try unsafe snapshot.withValue(of: record) { value = unsafe Array($0) } }
    try add(
      value, at: unsafe Array(record.key), in: record.header.keyspace, version: record.header.version,
      sequence: record.header.sequence, isOld: isOld)
  }
}
