import Synchronization

/// Records as they are in the log, for tools.
extension Snapshot {
  /// Calls `body` with the newest record of each row of a keyspace, in key order if it is ordered, until `body` returns
  /// `.stop`. A record is valid until `body` returns.
  package func forEachRecord(
    in keyspace: Keyspace, _ body: (RecordView) throws -> ScanStep
  ) throws {
    try walk(.all, keyspace, reverse: false, limit: .max) { record in try body(record) == .next }
  }

  /// Calls `body` with the history of each row, newest first, until it returns `.stop`. Includes deleted rows,
  /// like ``history(of:in:)``.
  package func forEachHistory(
    in keyspace: Keyspace, _ body: ([RecordView]) throws -> ScanStep
  ) throws {
    try checkOpen(keyspace)
    guard keyspace.index.exists(at: sequence) else { return }
    let scan = Scan(index: index, keyspace: keyspace.index, sequence: sequence, checkHeld: checkHeld)
    try scan.histories { records in try body(records) == .next }
  }

  /// Calls `body` with the value of a record that one of the other methods has passed to its closure.
  package func withValue(of record: RecordView, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try unsafe record.withValue(index.dictionaries, body)
  }

  /// What is wrong with the order in which a keyspace's rows are scanned, in words; nil for nothing. Reads all rows in
  /// order, in reverse order, and in the order of their hashes. Calls `step` with each row that it reads.
  package func orderProblem(in keyspace: Keyspace, _ step: () throws -> Void) throws -> String? {
    guard keyspace.order == .ordered, keyspace.index.exists(at: sequence) else { return nil }
    var all = RowOrder()
    let scan = Scan(index: index, keyspace: keyspace.index, sequence: sequence, checkHeld: checkHeld)
    try scan.unordered { record in
      try step()
      all.take(record, in: keyspace.index)
      return true
    }
    for isReversed in [false, true] {
      var found = RowOrder(reverse: isReversed)
      try walk(.all, keyspace, reverse: isReversed, limit: .max) { record in
        try step()
        found.takeInOrder(record, in: keyspace.index)
        return found.isAscending && found.count <= all.count
      }
      let direction = isReversed ? "backwards" : "forwards"
      guard found.isAscending else { return "read \(direction), they are not in the order of their keys" }
      guard found.hasSameRows(as: all) else {
        return "read \(direction), they are not the \(all.count) rows that are found by their keys"
      }
    }
    return nil
  }

  /// The dictionaries that values of a keyspace may be compressed with, by id.
  package func dictionaries(of keyspace: Keyspace) -> [(id: DictionaryID, content: [UInt8])] {
    index.dictionaries.all.filter { $0.keyspace == keyspace.id }.map { dictionary in
      unsafe (dictionary.id, Array(dictionary.content.bytes))
    }
  }
}

extension Keyspace {
  /// The commit that defined it.
  package var definedAt: CommitSequence { index.definedAt.load(ordering: .acquiring) }

  /// Bytes of the newest records of its rows, and of older records that it retains.
  package var liveBytes: Int { index.live.byExtent.reduce(0) { $0 + $1.bytes } }
}
