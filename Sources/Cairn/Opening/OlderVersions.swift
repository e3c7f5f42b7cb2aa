import Synchronization

/// Collects the records that a replay has found superseded in keyspaces that retain older versions, and decides at the
/// end which of them are retained. Before a store is shared.
struct OlderVersions {
  private let index: Index
  private let table: SegmentTable
  /// The indexes already have what a checkpoint contains up to this commit.
  var loaded: CommitSequence = 0
  private var keyspaces: [Int: (index: KeyspaceIndex, schedule: RetentionSchedule)] = [:]
  /// Superseded records, with their sequences as heads; a head of 0 stands for no record, and means that the row has to
  /// be looked at.
  private var superseded: [RowBuffer.Row] = []

  /// A version of a row, while the row is settled.
  private struct Version {
    var record: RecordHeader
    var address: LogAddress
    /// Whether the table of older versions already contains it.
    var isThere: Bool
  }

  init(index: Index) {
    self.index = index
    table = index.table
  }

  func retains(_ number: Int) -> Bool { keyspaces[number] != nil }

  /// Adds a keyspace, by its number in the replay, in which older versions may be retained.
  mutating func enter(_ number: Int, _ keyspace: KeyspaceIndex) {
    guard keyspaces[number] == nil else { return }
    let schedule = RetentionSchedule(oldVersions: keyspace.oldVersions.load(ordering: .relaxed))
    keyspaces[number] = (keyspace, schedule)
  }

  mutating func leave(_ number: Int) { keyspaces[number] = nil }

  mutating func retain(_ number: Int, oldVersions: UInt32, since: CommitSequence) {
    keyspaces[number]?.schedule.add(oldVersions: oldVersions, since: since)
  }

  /// Adds a record that is older than another of its row, or a second copy of it. It counts as dead until the end.
  mutating func add(_ number: Int, _ hash: RowHash, _ address: LogAddress, _ segments: [Segment?]) {
    let header = table.verified(address).header
    superseded.append(RowBuffer.Row(hash: hash, address: address, keyspace: number, head: header.sequence.rawValue))
    if header.isTombstone, header.sequence <= loaded, let keyspace = keyspaces[number]?.index {
      count(keyspace, header, at: address, isLive: false, segments)
    }
  }

  mutating func checkAgain(_ number: Int, _ hash: RowHash) {
    superseded.append(RowBuffer.Row(hash: hash, address: 0, keyspace: number, head: 0))
  }

  /// Counts a record as live or no longer live. A tombstone counts among the tombstone bytes while it is not retained.
  private func count(
    _ keyspace: KeyspaceIndex, _ record: RecordHeader, at address: LogAddress, isLive: Bool, _ segments: [Segment?]
  ) {
    guard case let extent = table.extent(address), extent < segments.count, let segment = segments[extent] else {
      return
    }
    let bytes = isLive ? record.paddedLength : -record.paddedLength
    segment.liveBytes.add(bytes, ordering: .relaxed)
    keyspace.live.add(bytes, extent: segment.extent)
    if record.isTombstone { segment.tombstoneBytes.subtract(bytes, ordering: .relaxed) }
  }

  // MARK: The end

  /// Keeps the versions that are retained, removes the others, and sets the retentions of the keyspaces to the last
  /// ones read.
  ///
  /// - Parameters:
  ///   - deleted: tombstones that have been read and may be the newest records of their rows.
  /// - Returns: those of them that are the newest, and whose rows stay because older versions of them stay.
  mutating func settle(_ deleted: [RowBuffer.Row], _ segments: [Segment?]) throws(StoreError) -> [RowBuffer.Row] {
    var rows = superseded
    superseded = []
    for row in deleted where retains(row.keyspace) {
      rows.append(
        RowBuffer.Row(hash: row.hash, address: row.address, isPut: row.isPut, keyspace: row.keyspace, head: 0))
    }
    for (number, keyspace) in keyspaces.sorted(by: { $0.key < $1.key }) where keyspace.schedule.hasChanged {
      let (oldVersions, since) = keyspace.schedule.current
      keyspace.index.oldVersions.store(oldVersions, ordering: .relaxed)
      keyspace.index.retainedSince.store(since, ordering: .relaxed)
      for version in index.versions.versions(where: { version, _ in version.keyspace == keyspace.index.id }) {
        rows.append(RowBuffer.Row(hash: version.hash, address: 0, keyspace: number, head: 0))
      }
    }
    rows.sort { ($0.keyspace, $0.hash, $1.head) < ($1.keyspace, $1.hash, $0.head) }
    var stay: [RowBuffer.Row] = []
    var start = 0
    while start < rows.count {
      var end = start + 1
      while end < rows.count, rows[end].hash == rows[start].hash, rows[end].keyspace == rows[start].keyspace {
        end += 1
      }
      if let row = try settle(rows[start..<end], segments) { stay.append(row) }
      start = end
    }
    return stay
  }

  /// Settles one row. Returns its tombstone if the row is deleted, stays, and was not loaded in that state.
  private func settle(_ rows: ArraySlice<RowBuffer.Row>, _ segments: [Segment?]) throws(StoreError) -> RowBuffer.Row? {
    let (hash, number) = (rows[rows.startIndex].hash, rows[rows.startIndex].keyspace)
    guard let (keyspace, schedule) = keyspaces[number], let found = unsafe try keyspace.locator.find(hash) else {
      return nil
    }
    let newest = unsafe Version(record: found.record.header, address: found.address, isThere: false)
    let versions = [newest] + (try older(rows, hash, keyspace, than: newest.record.sequence))
    let count = schedule.keptCount(versions.map { ($0.record.sequence, $0.record.isTombstone) })
    // The oldest first, so that it becomes the last one in its bucket.
    for position in (1..<versions.count).reversed() {
      let version = versions[position]
      guard version.isThere != (position < count) else { continue }
      if version.isThere {
        _ = index.versions.remove(hash, sequence: version.record.sequence)
      } else {
        _ = try index.versions.reserve(1)
        index.versions.add(
          VersionTable.Version(
            hash: hash, address: version.address, sequence: version.record.sequence,
            supersededBy: versions[position - 1].record.sequence, keyspace: keyspace.id,
            units: UInt32(version.record.paddedLength / Format.unit), isTombstone: version.record.isTombstone,
            isBeforeDeletion: versions[position - 1].record.isTombstone),
          isOfDeletedRow: true, expiredBy: VersionTable.kept)
      }
      self.count(keyspace, version.record, at: version.address, isLive: !version.isThere, segments)
    }
    guard newest.record.isTombstone else { return nil }
    let wasLive = newest.record.sequence <= loaded
    if wasLive != (count > 0) { self.count(keyspace, newest.record, at: newest.address, isLive: !wasLive, segments) }
    guard count == 0 else {
      return wasLive ? nil : RowBuffer.Row(hash: hash, address: newest.address, keyspace: number, head: 0)
    }
    unsafe try keyspace.tree?.remove(found.record.key, hash)
    unsafe keyspace.locator.index.remove(hash, found.slot)
    return nil
  }

  /// The versions of a row other than its newest, each once, the newest of them first.
  private func older(
    _ rows: ArraySlice<RowBuffer.Row>, _ hash: RowHash, _ keyspace: KeyspaceIndex, than newest: CommitSequence
  ) throws(StoreError) -> [Version] {
    var versions: [Version] = []
    for version in index.versions.all(hash, asOf: .max.previous) {
      guard let record = table.record(version.address), record.header.sequence == version.sequence else {
        throw keyspace.locator.corruption(version.address)
      }
      versions.append(Version(record: record.header, address: version.address, isThere: true))
    }
    for row in rows where row.head > 0 {
      versions.append(Version(record: table.verified(row.address).header, address: row.address, isThere: false))
    }
    versions.sort { ($0.record.sequence, $0.isThere ? 1 : 0) > ($1.record.sequence, $1.isThere ? 1 : 0) }
    var last = newest
    versions.removeAll { version in
      defer { last = min(last, version.record.sequence) }
      return version.record.sequence >= last
    }
    return versions
  }
}
