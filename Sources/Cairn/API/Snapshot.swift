import Synchronization

/// The store as it was after one commit. A snapshot does not change while others write.
///
/// Taking one costs nothing. While it is held, each row that is overwritten or deleted for the first time costs 64
/// bytes of memory; in a keyspace that retains older versions, each version that would otherwise have expired costs
/// that. Ends with `close()` or with its last reference. May be used from any thread.
///
///     let before = store.snapshot()
///     let mars = try planets.get("Mars", at: before)
public final class Snapshot: Sendable {
  /// The newest commit that the snapshot sees.
  public let sequence: CommitSequence
  let index: Index
  let committer: Committer
  private let maintenance: Maintenance
  private let isClosed = Atomic<Bool>(false)

  init(index: Index, committer: Committer, maintenance: Maintenance) {
    self.index = index
    self.committer = committer
    self.maintenance = maintenance
    guard index.isOfThisProcess else {
      sequence = index.published.load(ordering: .acquiring)
      isClosed.store(true, ordering: .relaxed)
      return
    }
    sequence = index.snapshots.register { index.published.load(ordering: .sequentiallyConsistent) }
    index.heldSnapshots.add(1, ordering: .relaxed)
  }

  deinit { close() }

  /// Ends the snapshot. Reading from it afterwards throws `closed`.
  public func close() {
    guard index.isOfThisProcess, !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    index.heldSnapshots.subtract(1, ordering: .relaxed)
    committer.release(sequence)
    maintenance.checkIfDue()
  }

  func checkOpen(_ keyspace: Keyspace) throws(StoreError) {
    try index.checkProcess()
    try checkHeld()
    try keyspace.checkBelongs(to: index)
  }

  /// Throws if the snapshot has ended, which another thread, or a closure called with a row, may cause at any time. A
  /// thread that pins the era first and then finds the snapshot held can use its memory as long as the pin lasts. A
  /// thread that finds no row checks once more, since the row's older version may have been removed.
  @inline(__always)
  func checkHeld() throws(StoreError) {
    guard !isClosed.load(ordering: .acquiring) else { throw Self.ended }
  }

  private static var ended: StoreError { StoreError(.closed, "the snapshot is closed") }

  // MARK: One row

  /// A row's value; nil if there is no such row.
  /// - Throws: `corrupted` if the row's record is damaged; `closed`.
  @usableFromInline
  package func get(_ key: Key, in keyspace: Keyspace) throws(StoreError) -> [UInt8]? {
    try withRecord(key, keyspace) { (record) throws(StoreError) in try record.copiedValue(index.dictionaries) }
  }

  /// A row with its version and sequence; nil if there is no such row.
  @usableFromInline
  package func row(_ key: Key, in keyspace: Keyspace) throws(StoreError) -> Row? {
    try withRecord(key, keyspace) { (record) throws(StoreError) in try record.row(index.dictionaries) }
  }

  /// The value of a row with its version and sequence; nil if there is no such row.
  package func stampedValue(
    of key: Key, in keyspace: Keyspace
  ) throws(StoreError) -> (value: [UInt8], stamp: RowStamp)? {
    try withRecord(key, keyspace) { (record) throws(StoreError) in
      (try record.copiedValue(index.dictionaries), record.stamp)
    }
  }

  /// The version and sequence of a row, whose value is not read; nil if there is no such row.
  package func stamp(of key: Key, in keyspace: Keyspace) throws(StoreError) -> RowStamp? {
    try withRecord(key, keyspace) { $0.stamp }
  }

  /// Whether there is such a row.
  @usableFromInline
  package func contains(_ key: Key, in keyspace: Keyspace) throws(StoreError) -> Bool {
    try withRecord(key, keyspace) { _ in true } ?? false
  }

  /// The history of a row when the snapshot was taken, newest first, as ``Keyspace/history(of:at:)``
  /// returns them. They stay while the snapshot is held, whatever is written and however the retention changes.
  /// - Throws: `corrupted` if a record is damaged; `closed`, `foreignKeyspace`.
  package func history(of key: Key, in keyspace: Keyspace) throws(StoreError) -> [RowVersion] {
    try checkOpen(keyspace)
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    try checkHeld()
    guard keyspace.index.exists(at: sequence) else {
      return try keyspace.defined.map { (defined) throws(StoreError) in try history(of: key, in: defined) } ?? []
    }
    return try unsafe key.withEncoded { (encoded) throws(StoreError) -> [RowVersion] in
      let records = try unsafe index.history(keyspace.index, keyspace.index.hash(encoded), encoded, at: sequence)
      try checkHeld()
      var versions: [RowVersion] = []
      for record in records { versions.append(try record.rowVersion(index.dictionaries)) }
      return versions
    }
  }

  /// Calls `body` with a row's value in place; returns nil if there is no such row. The bytes are valid until `body`
  /// returns.
  package func withValue<R>(
    _ key: Key, in keyspace: Keyspace, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    var result: R?
    try unsafe read(key, keyspace) { result = unsafe try body($0.bytes) }
    return result
  }

  @usableFromInline
  func read(
    _ key: Key, _ keyspace: Keyspace, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try checkOpen(keyspace)
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    try checkHeld()
    guard keyspace.index.exists(at: sequence) else {
      if let defined = keyspace.defined { try unsafe read(key, defined, body) }
      return
    }
    try unsafe key.withEncoded { (encoded) throws in
      let hash = unsafe keyspace.index.hash(encoded)
      guard let record = try unsafe index.record(keyspace.index, hash, encoded, at: sequence) else {
        return try checkHeld()
      }
      try unsafe record.withValue(index.dictionaries, body)
    }
  }

  private func withRecord<R>(
    _ key: Key, _ keyspace: Keyspace, _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    try checkOpen(keyspace)
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    try checkHeld()
    guard keyspace.index.exists(at: sequence) else {
      guard let defined = keyspace.defined else { return nil }
      return try withRecord(key, defined, body)
    }
    return try unsafe key.withEncoded { (encoded) throws(StoreError) -> R? in
      let hash = unsafe keyspace.index.hash(encoded)
      guard let record = try unsafe index.record(keyspace.index, hash, encoded, at: sequence) else {
        try checkHeld()
        return nil
      }
      return try body(record)
    }
  }

  // MARK: Many rows

  /// The values of many rows, nil for each row that does not exist. Looking them up together is several times faster
  /// than one by one.
  package func get(many keys: [Key], in keyspace: Keyspace) throws(StoreError) -> [[UInt8]?] {
    try read(many: keys, keyspace) { (record) throws(StoreError) in try record.copiedValue(index.dictionaries) }
  }

  /// What ``stampedValue(of:in:)`` returns for many rows, found together as by ``get(many:in:)``.
  package func stampedValues(
    many keys: [Key], in keyspace: Keyspace
  ) throws(StoreError) -> [(value: [UInt8], stamp: RowStamp)?] {
    try read(many: keys, keyspace) { (record) throws(StoreError) in
      (try record.copiedValue(index.dictionaries), record.stamp)
    }
  }

  /// Reads records in groups: what each takes from the index and the log is prefetched for the whole group.
  private func read<R>(
    many keys: [Key], _ keyspace: Keyspace, _ read: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> [R?] {
    try checkOpen(keyspace)
    let batch = 16
    var results: [R?] = []
    results.reserveCapacity(keys.count)
    var hashes: [RowHash] = []
    hashes.reserveCapacity(min(batch, keys.count))
    var addresses: [LogAddress] = []
    addresses.reserveCapacity(min(batch, keys.count))
    let locator = keyspace.index.locator
    var start = 0
    while start < keys.count {
      let pin = index.eras.pin()
      defer { index.eras.unpin(pin) }
      try checkHeld()
      guard keyspace.index.exists(at: sequence) else {
        guard let defined = keyspace.defined else { return Array(repeating: nil, count: keys.count) }
        return try self.read(many: keys, defined, read)
      }
      let end = min(start + batch, keys.count)
      hashes.removeAll(keepingCapacity: true)
      for key in keys[start..<end] {
        let hash = unsafe key.withEncoded { unsafe keyspace.index.hash($0) }
        locator.index.prefetch(hash)
        hashes.append(hash)
      }
      addresses.removeAll(keepingCapacity: true)
      for hash in hashes { addresses.append(locator.likelyAddress(hash)) }
      for address in addresses where address != 0 { index.table.prefetch(address) }
      for (key, hash) in zip(keys[start..<end], hashes) {
        let record = try unsafe key.withEncoded { (encoded) throws(StoreError) in
          try unsafe index.record(keyspace.index, hash, encoded, at: sequence)
        }
        guard let record else {
          try checkHeld()
          results.append(nil)
          continue
        }
        results.append(try read(record))
      }
      start = end
    }
    return results
  }

  /// Number of rows. Takes constant time if nothing has been committed since the snapshot was taken, otherwise time in
  /// proportion to the number of rows.
  package func count(in keyspace: Keyspace) throws(StoreError) -> Int {
    try checkOpen(keyspace)
    guard keyspace.index.exists(at: sequence) else {
      return try keyspace.defined.map { (defined) throws(StoreError) in try count(in: defined) } ?? 0
    }
    if index.applying.load(ordering: .sequentiallyConsistent) == sequence {
      let count = keyspace.index.rowCount.load(ordering: .acquiring)
      if index.applying.load(ordering: .sequentiallyConsistent) == sequence { return count }
    }
    return try count(.all, in: keyspace)
  }

  /// Number of rows in a range. Takes time in proportion to that number.
  package func count(_ range: KeyRange, in keyspace: Keyspace) throws(StoreError) -> Int {
    var count = 0
    try walkTyped(range, keyspace, reverse: false, limit: .max) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Calls `body` with the rows of a range in the order of their keys, until it returns `.stop` or `limit` rows have
  /// been seen.
  ///
  /// - Parameters:
  ///   - range: the keys to visit. For an unordered keyspace only `.all` is allowed, and its rows come in no particular
  ///     order.
  ///   - keyspace: a keyspace of the same store.
  ///   - reverse: whether to go from the last key to the first.
  ///   - limit: the largest number of rows to visit.
  ///   - body: gets the encoded key, which ``Key/init(encoded:)-(RawSpan)`` decodes, and the value, both valid
  ///     until it returns. It may read and write the store.
  /// - Throws: `notOrdered`, `corrupted`, `closed`, and whatever `body` throws.
  package func scan(
    _ range: KeyRange = .all, in keyspace: Keyspace, reverse: Bool = false, limit: Int = .max,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ stamp: RowStamp) throws -> ScanStep
  ) throws {
    guard limit > 0 else { return }
    var left = limit
    var values = ValueReader(index.dictionaries)
    try walk(range, keyspace, reverse: reverse, limit: limit) { record in
      var step = ScanStep.next
      try unsafe values.withValue(of: record) {
        step = try unsafe body(record.key.bytes, $0.bytes, record.stamp)
      }
      left -= 1
      return step == .next && left > 0
    }
  }

  /// As ``scan(_:in:reverse:limit:_:)``, without reading the values.
  package func scanKeys(
    _ range: KeyRange, in keyspace: Keyspace, limit: Int = .max, _ body: (_ key: RawSpan) throws -> ScanStep
  ) throws {
    var left = limit
    try walk(range, keyspace, reverse: false, limit: limit) { record in
      left -= 1
      return try unsafe body(record.key.bytes) == .next && left > 0
    }
  }

  /// Copies of the rows of a range, all in memory at once.
  package func rows(
    _ range: KeyRange = .all, in keyspace: Keyspace, reverse: Bool = false, limit: Int = .max
  ) throws(StoreError) -> [Row] {
    var rows: [Row] = []
    guard limit > 0 else { return rows }
    try walkTyped(range, keyspace, reverse: reverse, limit: limit) { (record) throws(StoreError) in
      rows.append(try record.row(index.dictionaries))
      return rows.count < limit
    }
    return rows
  }

  /// Copies of the first rows of a range: at most `limit`, and no further one once they have `bytes` bytes of values.
  func rows(
    _ range: KeyRange, in keyspace: Keyspace, reverse: Bool, limit: Int, bytes: Int
  ) throws(StoreError) -> [Row] {
    var rows: [Row] = []
    var size = 0
    try walkTyped(range, keyspace, reverse: reverse, limit: limit) { (record) throws(StoreError) in
      let row = try record.row(index.dictionaries)
      size += row.value.count
      rows.append(row)
      return rows.count < limit && size < bytes
    }
    return rows
  }

  /// Calls `body` with the encoded key of each row of a range.
  func forEachKey(
    _ range: KeyRange, in keyspace: Keyspace, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try walkTyped(range, keyspace, reverse: false, limit: .max) { (record) throws(StoreError) in
      try unsafe body(record.key)
      return true
    }
  }

  /// As ``walk(_:_:reverse:limit:_:)``, for a body that throws nothing but errors of the store.
  private func walkTyped(
    _ range: KeyRange, _ keyspace: Keyspace, reverse: Bool, limit: Int,
    _ body: (RecordView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    do {
      try walk(range, keyspace, reverse: reverse, limit: limit, body)
    } catch let error as StoreError {
      throw error
    } catch {
      fatalError("walking rows threw \(error)")
    }
  }

  func walk(
    _ range: KeyRange, _ keyspace: Keyspace, reverse: Bool, limit: Int, _ body: (RecordView) throws -> Bool
  ) throws {
    try checkOpen(keyspace)
    guard keyspace.index.exists(at: sequence) else {
      if let defined = keyspace.defined { try walk(range, defined, reverse: reverse, limit: limit, body) }
      return
    }
    let scan = Scan(index: index, keyspace: keyspace.index, sequence: sequence, checkHeld: checkHeld)
    if let tree = keyspace.index.tree {
      guard range.upper.map({ !$0.isEmpty }) ?? true else { return }
      try scan.ordered(tree, from: range.lower, to: range.upper, reverse: reverse, limit: limit, body)
    } else {
      guard range == .all, !reverse else {
        throw StoreError(.notOrdered, "keyspace \(keyspace.name) is not ordered")
      }
      try scan.unordered(body)
    }
  }
}
