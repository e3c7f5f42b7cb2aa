import Synchronization

extension Committer {
  /// Enters what a refresh has found, and publishes it; returns the segments that only earlier commits need.
  func enter(_ refresh: Refresh) throws(StoreError) -> [Segment] {
    // Readers see this commit until all has been entered.
    let last = index.snapshots.register { index.published.load(ordering: .sequentiallyConsistent) }
    let departed = try betweenCommits { (writer) throws(StoreError) in
      index.applying.store(refresh.newLast, ordering: .sequentiallyConsistent)
      do throws(StoreError) {
        let departed = try writer.enter(refresh)
        index.published.store(refresh.newLast, ordering: .sequentiallyConsistent)
        return departed
      } catch {
        // Readers need the last commit for good.
        throw log.failure.poison(FileError(.system(0), "refresh (\(error.message))", log.directory.path))
      }
    }
    release(last)
    return departed
  }
}

/// Entering what a refresh has found into the index. Until it is published, readers see the last commit known before.
extension Writer {
  /// A record of a row at its address in the log.
  private struct Located {
    let header: RecordHeader
    let address: LogAddress
  }

  /// - Returns: the segments to which the index refers only for the sake of snapshots of earlier commits.
  mutating func enter(_ refresh: Refresh) throws(StoreError) -> [Segment] {
    let segments = try enterSegments(of: refresh)
    for (id, definition) in refresh.definitions where refresh.drops[id] == nil {
      _ = index.restore(id, definition.name, isOrdered: definition.isOrdered, definedAt: definition.sequence)
    }
    for dictionary in refresh.dictionaries { index.dictionaries.add(dictionary) }
    try followMoves(of: refresh, to: segments)
    for (id, sequence) in refresh.drops.sorted(by: { $0.key < $1.key }) { drop(id, sequence) }
    try enterChanges(of: refresh, in: segments)
    let tombstones = try deleteUnlisted(refresh)
    dropExpired()
    finish(refresh, segments)
    return refresh.departed + (tombstones.map { [$0] } ?? [])
  }

  /// The segment of each source.
  private mutating func enterSegments(of refresh: Refresh) throws(StoreError) -> [Segment] {
    var segments: [Segment] = []
    for source in refresh.sources {
      if let known = source.known {
        log.shared.table.limit(known.extents, to: source.end)
        segments.append(known)
        continue
      }
      guard let mapping = source.mapping else { fatalError("a new segment without a mapping") }
      let header = source.header
      let extents = log.shared.table.enter(
        mapping, id: header.id, seed: header.seed, baseSequence: header.baseSequence)
      log.shared.table.limit(extents, to: source.end)
      let segment = Segment(
        id: header.id, epoch: header.epoch, file: source.file, mapping: mapping, seed: header.seed,
        baseSequence: header.baseSequence, extents: extents, end: source.end, lastSequence: source.lastSequence,
        isCompacted: source.isCompacted)
      if source.isCompacted {
        segment.purge(upTo: source.entry.lastSequence, apartFromPinned: source.entry.lastSequence)
      }
      log.enter(segment)
      segments.append(segment)
    }
    return segments
  }

  /// Redirects what the index has to the copies that compaction has made.
  private func followMoves(of refresh: Refresh, to segments: [Segment]) throws(StoreError) {
    let table = log.shared.table
    for (source, segment) in zip(refresh.sources, segments) where source.isCompacted {
      try refresh.forEachCompactedRecord(source, upTo: source.end) { (record, offset) throws(StoreError) in
        let header = record.header
        guard header.isPut || header.isTombstone else { return }
        if header.isTombstone { segment.tombstoneBytes.add(header.paddedLength, ordering: .relaxed) }
        guard header.sequence <= refresh.last, let keyspace = index.keyspace(id: header.keyspace) else { return }
        let hash = unsafe keyspace.hash(record.key)
        guard let old = try address(keyspace, hash, header.sequence) else { return }
        _ = move(
          keyspace, hash, from: Span(address: old.address, length: old.length),
          to: Span(address: table.address(extent: segment.extent, offset: offset), length: header.paddedLength),
          isPut: header.isPut)
      }
    }
  }

  /// Where the index has the record that a commit wrote of a row, and the length of that record.
  private func address(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ sequence: CommitSequence
  ) throws(StoreError) -> (address: LogAddress, length: Int)? {
    if let found = try unsafe keyspace.locator.find(hash), unsafe found.record.header.sequence == sequence {
      return unsafe (found.address, found.record.header.paddedLength)
    }
    return index.versions.version(hash, sequence: sequence).map { ($0.version.address, $0.version.bytes) }
  }

  private mutating func drop(_ id: KeyspaceID, _ sequence: CommitSequence) {
    guard let keyspace = index.keyspace(id: id) else { return }
    let change = KeyspaceDrop(keyspace: keyspace)
    change.apply(sequence, &self)
    change.finish(sequence, &self)
  }

  // MARK: Changes

  private mutating func enterChanges(of refresh: Refresh, in segments: [Segment]) throws(StoreError) {
    var schedules: [KeyspaceID: RetentionSchedule] = [:]
    func schedule(_ keyspace: KeyspaceIndex) -> RetentionSchedule {
      schedules[keyspace.id] ?? RetentionSchedule(oldVersions: keyspace.oldVersions.load(ordering: .relaxed))
    }
    for retention in refresh.retentions {
      guard let keyspace = index.keyspace(id: retention.keyspace) else { continue }
      var changed = schedule(keyspace)
      changed.add(oldVersions: retention.oldVersions, since: retention.since)
      schedules[keyspace.id] = changed
    }
    let table = log.shared.table
    let changes = refresh.changes.sorted { ($0.keyspace, $0.hash, $0.sequence) < ($1.keyspace, $1.hash, $1.sequence) }
    var start = 0
    var touched: [KeyspaceID: Set<RowHash>] = [:]
    while start < changes.count {
      let (id, hash) = (changes[start].keyspace, changes[start].hash)
      var end = start
      var records: [Located] = []
      while end < changes.count, changes[end].keyspace == id, changes[end].hash == hash {
        let address = table.address(extent: segments[changes[end].source].extent, offset: changes[end].offset)
        records.append(Located(header: table.verified(address).header, address: address))
        end += 1
      }
      start = end
      guard let keyspace = index.keyspace(id: id) else { continue }
      try settle(keyspace, hash, records, schedule(keyspace), departed: refresh.departedExtents, at: refresh.last.next)
      if schedules[id] != nil { touched[id, default: []].insert(hash) }
    }
    for (id, schedule) in schedules.sorted(by: { $0.key < $1.key }) {
      guard let keyspace = index.keyspace(id: id) else { continue }
      var rows = Set(retainedVersions(of: keyspace).map(\.hash))
      rows.subtract(touched[id] ?? [])
      for hash in rows {
        try settle(keyspace, hash, [], schedule, departed: refresh.departedExtents, at: refresh.last.next)
      }
      keyspace.oldVersions.store(schedule.current.oldVersions, ordering: .relaxed)
      keyspace.retainedSince.store(schedule.current.since, ordering: .relaxed)
    }
  }

  /// Brings one row up to date.
  ///
  /// - Parameters:
  ///   - records: the row's new records, oldest first.
  ///   - schedule: how many of its older versions remain.
  ///   - departed: the extents of segments that are no longer listed.
  ///   - first: the first commit after those that snapshots can see; with it versions expire that do not remain. A later
  ///     commit would make a tombstone in between a version for snapshots to come.
  private mutating func settle(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ records: [Located], _ schedule: RetentionSchedule,
    departed: Set<Int>, at first: CommitSequence
  ) throws(StoreError) {
    let found = try unsafe keyspace.locator.find(hash).map { found in
      unsafe Located(header: found.record.header, address: found.address)
    }
    let kept = index.versions.all(hash, asOf: .max.previous).sorted { $0.sequence > $1.sequence }
    // A tombstone is a version only because of the versions before it.
    let isVersion = found.map { !$0.header.isTombstone || !kept.isEmpty } ?? false
    var known = kept.map { (address: $0.address, sequence: $0.sequence, isTombstone: $0.isTombstone) }
    if isVersion, let found { known.insert((found.address, found.header.sequence, found.header.isTombstone), at: 0) }
    // A version that compaction has not copied has expired, and so have those before it. The record that made it expire
    // may have been dropped, too.
    let remaining = known.prefix { !departed.contains(index.table.extent($0.address)) }
    let count = schedule.keptCount(
      records.reversed().map { ($0.header.sequence, $0.header.isTombstone) }
        + remaining.map { ($0.sequence, $0.isTombstone) })
    try reserve(keyspace, records, isNew: found == nil)

    for version in index.versions.expire(
      hash, keeping: max(0, count - records.count - (isVersion ? 1 : 0)), by: first)
    {
      countDead(keyspace, version.address, version.bytes)
      expired.append(VersionName(hash: hash, sequence: version.sequence))
    }
    guard let newest = records.last else {
      if let found, isVersion, found.header.isTombstone, count == 0 { release(keyspace, tombstone: found) }
      return
    }
    if let found {
      supersede(keyspace, hash, found, by: records[0], isVersion: isVersion, isKept: count > records.count, at: first)
    }
    for (position, record) in records.dropLast().enumerated() {
      let isKept = records.count - 1 - position < count
      if isKept {
        add(keyspace, hash, record, supersededBy: records[position + 1], expiredBy: VersionTable.kept)
      }
      note(keyspace, record, isKept: isKept)
    }
    let isRow = !newest.header.isTombstone
    note(keyspace, newest, isKept: isRow || count > 0)
    if let found {
      guard let slot = unsafe keyspace.locator.index.find(hash, { $0 == found.address }) else {
        fatalError("a row has lost its slot")
      }
      unsafe keyspace.locator.index.replace(slot, newest.address)
    } else if isRow || count > 0 {
      try unsafe keyspace.insert(index.table.key(newest.address), hash, newest.address)
    } else {
      return
    }
    if !isRow, count == 0 { hold(keyspace, newest.address, newest.header.paddedLength) }
    let wasRow = found.map { !$0.header.isTombstone } ?? false
    keyspace.rowCount.add((isRow ? 1 : 0) - (wasRow ? 1 : 0), ordering: .releasing)
  }

  /// Reserves the memory that the indexes need for the new records of one row.
  private func reserve(_ keyspace: KeyspaceIndex, _ records: [Located], isNew: Bool) throws(StoreError) {
    var bytes = try index.versions.reserve(records.count)
    if isNew, let newest = records.last {
      bytes += try keyspace.locator.index.reserve(1) + OrderedIndex.memory(1, longestKey: newest.header.keyLength)
    }
    try index.arena.reserve(bytes)
  }

  /// Adds the row's record so far to the older versions.
  private mutating func supersede(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ found: Located, by next: Located, isVersion: Bool, isKept: Bool,
    at first: CommitSequence
  ) {
    let length = found.header.paddedLength
    var expiredBy = isKept ? VersionTable.kept : first
    if isVersion {
      if !isKept { countDead(keyspace, found.address, length) }
    } else {
      hold(keyspace, found.address, -length)
      // Older snapshots see the tombstone as a version if they see versions before it that expired later.
      expiredBy = index.versions.lastExpiry(hash)
      guard expiredBy > found.header.sequence else { return }
      log.segment(found.address).tombstoneBytes.subtract(length, ordering: .relaxed)
    }
    add(keyspace, hash, found, supersededBy: next, expiredBy: expiredBy)
    if !isVersion || !isKept { expired.append(VersionName(hash: hash, sequence: found.header.sequence)) }
  }

  private func add(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ record: Located, supersededBy next: Located, expiredBy: CommitSequence
  ) {
    index.versions.add(
      VersionTable.Version(
        hash: hash, address: record.address, sequence: record.header.sequence, supersededBy: next.header.sequence,
        keyspace: keyspace.id, units: UInt32(record.header.paddedLength / Format.unit),
        isTombstone: record.header.isTombstone, isBeforeDeletion: next.header.isTombstone),
      isOfDeletedRow: true, expiredBy: expiredBy)
  }

  /// Counts a new record.
  private func note(_ keyspace: KeyspaceIndex, _ record: Located, isKept: Bool) {
    let segment = log.segment(record.address)
    let length = record.header.paddedLength
    if isKept {
      segment.liveBytes.add(length, ordering: .relaxed)
      keyspace.live.add(length, extent: segment.extent)
      // Compaction counts all tombstones that it copies.
      if segment.isCompacted, record.header.isTombstone { segment.tombstoneBytes.subtract(length, ordering: .relaxed) }
    } else if record.header.isTombstone, !segment.isCompacted {
      segment.tombstoneBytes.add(length, ordering: .relaxed)
    }
  }

  /// Counts the tombstone of a row of which no version remains as dead; it stays until no snapshot needs the row.
  private func release(_ keyspace: KeyspaceIndex, tombstone: Located) {
    let length = tombstone.header.paddedLength
    countDead(keyspace, tombstone.address, length)
    log.segment(tombstone.address).tombstoneBytes.add(length, ordering: .relaxed)
    hold(keyspace, tombstone.address, length)
  }

  // MARK: Deletions

  /// Deletes the rows whose records have departed with their segments, by tombstones in memory: those that the writer
  /// wrote have been dropped by compaction.
  ///
  /// - Returns: a segment with the tombstones; nil if there are none.
  private mutating func deleteUnlisted(_ refresh: Refresh) throws(StoreError) -> Segment? {
    let rows = unlistedRows(refresh)
    guard let first = refresh.departed.first, !rows.isEmpty else { return nil }
    guard refresh.newLast > refresh.last else {
      throw StoreError(
        .damaged, "a row is missing that no commit has deleted", place: index.table.place(rows[0].address))
    }
    var bytes: [UInt8] = []
    var offsets: [Int] = []
    for row in rows {
      let record = index.table.verified(row.address)
      let header = RecordHeader(
        kind: .tombstone, compressed: false, keyspace: row.keyspace.id, keyLength: record.header.keyLength,
        storedLength: 0, rawLength: 0, sequence: refresh.newLast, version: record.header.version, baseSequence: 0)
      offsets.append(bytes.count)
      unsafe header.append(key: record.key, at: bytes.count, to: &bytes)
    }
    let memory = HeapMapping(bytes)
    let segment = Segment(
      id: first.id, epoch: first.epoch, file: first.file, mapping: memory, seed: .none, baseSequence: 0,
      extents: index.table.enter(memory, id: first.id, seed: .none, baseSequence: 0), end: bytes.count,
      lastSequence: refresh.newLast, isCompacted: true)
    log.enter(segment)
    for (row, offset) in zip(rows, offsets) {
      let address = index.table.address(extent: segment.extent, offset: offset)
      let tombstone = Located(header: index.table.verified(address).header, address: address)
      try settle(
        row.keyspace, row.hash, [tombstone], RetentionSchedule(oldVersions: 0), departed: refresh.departedExtents,
        at: refresh.last.next)
    }
    return segment
  }

  private struct UnlistedRow {
    let keyspace: KeyspaceIndex
    let hash: RowHash
    let address: LogAddress
  }

  /// The rows whose newest record is in a segment that is no longer listed.
  private func unlistedRows(_ refresh: Refresh) -> [UnlistedRow] {
    var rows: [UnlistedRow] = []
    for segment in refresh.departed {
      var offset = SegmentHeader.size
      let end = segment.end.load(ordering: .relaxed)
      while offset < end,
        let frame = unsafe FrameView(
          segment.mapping.base + offset, available: end - offset, offset: offset, seed: segment.seed,
          baseSequence: segment.baseSequence, isCompacted: segment.isCompacted)
      {
        frame.forEachRecord { record, offset in
          guard record.header.isPut, let keyspace = index.keyspace(id: record.header.keyspace) else { return }
          let address = index.table.address(extent: segment.extent, offset: offset)
          let hash = unsafe keyspace.hash(record.key)
          guard unsafe keyspace.locator.index.find(hash, { $0 == address }) != nil else { return }
          rows.append(UnlistedRow(keyspace: keyspace, hash: hash, address: address))
        }
        offset += frame.header.length
      }
    }
    return rows
  }

  // MARK: The log

  private mutating func finish(_ refresh: Refresh, _ segments: [Segment]) {
    let shared = log.shared
    let departed = Set(refresh.departed.map(\.id))
    shared.segments.withLock { known in known.removeAll { departed.contains($0.id) } }
    for (source, segment) in zip(refresh.sources, segments) {
      segment.end.store(source.end, ordering: .releasing)
      segment.lastSequence.store(source.lastSequence, ordering: .releasing)
      if source.known == nil { shared.list(segment) }
    }
    shared.syncs.durable.move(to: min(refresh.watermark.sequence, refresh.newLast), refresh.watermark.place)
    let keyspaces = index.allKeyspaces
    shared.manifest.withLock { manifest in
      let dropped = refresh.manifest.keyspaces.filter { keyspaces.index(of: $0.id) == nil }
      manifest = refresh.manifest
      manifest.keyspaces = keyspaces.map { keyspace in
        Manifest.Keyspace(
          id: keyspace.id, isOrdered: keyspace.isOrdered, definedAt: keyspace.definedAt.load(ordering: .relaxed),
          name: keyspace.name, oldVersions: keyspace.oldVersions.load(ordering: .relaxed))
      }
      manifest.keyspaces = (manifest.keyspaces + dropped).sorted { $0.id < $1.id }
    }
  }
}

extension RecordHeader {
  /// Appends a record without a value at an offset of a segment without a seed.
  fileprivate func append(key: UnsafeRawBufferPointer, at offset: Int, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: repeatElement(0, count: paddedLength))
    unsafe bytes.withUnsafeMutableBytes { bytes in
      let record = unsafe bytes.baseAddress.unsafelyUnwrapped + offset
      unsafe write(to: record, baseSequence: 0)
      unsafe (bytes.baseAddress.unsafelyUnwrapped + offset + length).copyMemory(
        from: key.baseAddress.unsafelyUnwrapped, byteCount: key.count)
      let checksum = unsafe ~CRC32C.register(PlaceSeed.none.start(offset), record + 4, recordLength - 4)
      unsafe record.storeBytes(of: checksum.littleEndian, as: UInt32.self)
    }
  }
}
