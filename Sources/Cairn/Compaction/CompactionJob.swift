import Synchronization

/// Copies the needed records of some segments to a new segment, in key order, and replaces those segments by it: a
/// piece at a time, while readers and the writer continue.
///
/// The copies are durable, and so are the records that supersede those that are left out, before the manifest replaces
/// the segments in one step. Only then are the rows moved to the copies, one by one, except for rows that have been
/// changed by a commit meanwhile. After a crash at any point there may be copies too many, never one too few.
///
/// Only one thread at a time may use it.
final class CompactionJob: @unchecked Sendable {
  let inputs: [Segment]
  private(set) var output: Segment?
  /// The segment in which damage was found; nil for none.
  private(set) var damaged: Segment?
  private let index: Index
  private let log: Log
  private let committer: Committer
  private let keyspaces: [KeyspaceIndex]
  private let numbers: [KeyspaceID: Int]
  /// The newest commit when the job began.
  private let sequence: CommitSequence
  /// No record that a tombstone at or before this commit deletes is outside the inputs, neither in the log nor in a
  /// checkpoint, except for older records that snapshots need; indexes refer to the tombstones of those.
  private let horizon: CommitSequence
  /// nil if there is none, or it cannot be used any more.
  private var checkpoint: Manifest.Checkpoint?
  /// For inputs that the checkpoint does not know: the offsets of their records, in units, and the places where the
  /// checkpoint has them.
  private var moves: [SegmentID: (offsets: [UInt32], places: [UInt64])] = [:]

  private var phase = Phase.scan(input: 0, offset: SegmentHeader.size)
  private var purged: CommitSequence
  /// Like `purged`, but not counting the records in `pinned`.
  private var purgedApartFromPinned: CommitSequence
  /// Older records that snapshots need, by their addresses: the hashes of their rows, and the commits with which they
  /// expired.
  private var pinned: [LogAddress: (hash: RowHash, gone: CommitSequence)] = [:]
  private var assembly: FrameAssembly
  private var frameNumber: CommitSequence = 0
  private var newestRecord: CommitSequence = 0
  /// The records to copy: of rows, with their hashes. No index refers to the records in `carried`.
  private var rows: RowBuffer
  private var reencoder: Reencoder
  private var carried: [LogAddress] = []
  /// Tombstones that seem not to be needed; `isLast` if that is because no older record remains.
  private var doubtful: [(address: LogAddress, isLast: Bool)] = []
  private var pending: [RowBuffer.Row] = []
  /// Bytes of the records to copy, once all inputs have been scanned.
  private(set) var neededBytes = 0
  /// The newest deletion that is left out although nothing newer in the log tells that the row, or the keyspace, has
  /// gone.
  private var forgotten: CommitSequence = 0
  /// For each row the address of its copy, and the lengths of the copy and of the original in units.
  private var copies: [(address: LogAddress, length: UInt32, oldLength: UInt32)] = []
  private var list: MoveList?

  private enum Phase {
    case scan(input: Int, offset: Int)
    case write(Int)
    case publish
    case move(Int)
    case over
  }

  private static let pieceLength = 1 << 20
  private static let frameLength = 1 << 18
  /// Number of rows that are moved to their copies at a time, while commits wait.
  private static let rowsAtOnce = 32

  /// Keyspaces that are dropped from now on keep their memory until the job is over.
  /// - Throws: `noMemory`.
  init(
    _ inputs: [Segment], index: Index, log: Log, committer: Committer, effort: Reencoder.Effort
  ) throws(StoreError) {
    rows = try RowBuffer(
      capacity: inputs.reduce(1) { count, segment in
        unsafe count
          + FrameHeader.recordCount(
            segment.mapping.base, from: SegmentHeader.size, upTo: segment.end.load(ordering: .relaxed))
      })
    self.inputs = inputs
    self.index = index
    self.log = log
    self.committer = committer
    keyspaces = committer.beginCompaction()
    numbers = Dictionary(uniqueKeysWithValues: keyspaces.enumerated().map { ($0.element.id, $0.offset) })
    sequence = index.published.load(ordering: .acquiring)
    purged = sequence
    purgedApartFromPinned = sequence
    checkpoint = log.manifest.newestCheckpoint
    horizon = Self.horizon(beside: inputs, log, checkpoint)
    assembly = FrameAssembly(log: log)
    reencoder = Reencoder(dictionaries: index.dictionaries, effort: effort)
  }

  deinit { abandon() }

  private static func horizon(
    beside inputs: [Segment], _ log: Log, _ checkpoint: Manifest.Checkpoint?
  ) -> CommitSequence {
    log.segments.withLock { $0 }.filter { segment in !inputs.contains { $0 === segment } }
      .reduce(checkpoint?.sequence ?? .max) { min($0, $1.horizon) }
  }

  /// Whether the log has the copies in place of the segments.
  var isPublished: Bool {
    switch phase {
    case .scan, .write, .publish: false
    case .move, .over: true
    }
  }

  /// By how much the log has become shorter, once the job is over.
  var gainedBytes: Int {
    inputs.reduce(0) { $0 + $1.end.load(ordering: .relaxed) } - (output?.end.load(ordering: .relaxed) ?? 0)
  }

  /// Bytes read or copied, and the total as far as is known.
  var progress: (done: Int, total: Int) {
    let input = inputs.reduce(0) { $0 + $1.end.load(ordering: .relaxed) }
    switch phase {
    case .scan(let number, let offset):
      return (inputs[..<number].reduce(offset) { $0 + $1.end.load(ordering: .relaxed) }, input + neededBytes)
    case .write(let row): return (input + neededBytes * row / max(1, rows.count), input + neededBytes)
    case .publish, .move, .over: return (input + neededBytes, input + neededBytes)
    }
  }

  /// Gives up, if the copies are not in the log yet. The new segment's files are removed, unless the manifest may list
  /// it.
  func abandon(mayBeListed: Bool = false) {
    switch phase {
    case .over: return
    case .move: break
    case .scan, .write, .publish:
      if let output {
        committer.betweenCommits { $0.log.release(output) }
        if !mayBeListed { log.removeFiles(of: output) }
      }
    }
    phase = .over
    committer.endCompaction()
  }

  /// Does a piece of the work; true when all is done. A failure ends the job, and loses nothing.
  func step() throws(StoreError) -> Bool {
    do throws(StoreError) {
      switch phase {
      case .scan(let input, let offset): try scan(input, offset)
      case .write(let row): try write(from: row)
      case .publish: try publish()
      case .move(let row): move(from: row)
      case .over: return true
      }
    } catch {
      abandon(mayBeListed: error.code == .poisoned)
      throw error
    }
    if case .over = phase { return true }
    return false
  }

  // MARK: What is needed

  private func scan(_ number: Int, _ start: Int) throws(StoreError) {
    guard number < inputs.count else { return try beginWriting() }
    let segment = inputs[number]
    let end = segment.end.load(ordering: .relaxed)
    var offset = start
    while offset < end, offset - start < Self.pieceLength {
      guard
        let frame = unsafe FrameView(
          segment.mapping.base + offset, available: end - offset, offset: offset, seed: segment.seed,
          baseSequence: segment.baseSequence, isCompacted: segment.isCompacted)
      else {
        // The frame must not be copied, because its copy would get a valid checksum.
        throw damage("a frame that was durable is invalid", in: segment, at: offset)
      }
      try frame.forEachRecord { (record, offset) throws(StoreError) in
        try lookUp(record, index.table.address(extent: segment.extent, offset: offset))
      }
      offset += frame.header.length
    }
    try decide()
    phase = offset < end ? .scan(input: number, offset: offset) : .scan(input: number + 1, offset: SegmentHeader.size)
  }

  /// Notes that an input is damaged, so that it stays as it is and is never compacted. Returns the error to throw.
  private func damage(_ words: String, in segment: Segment, at offset: Int) -> StoreError {
    segment.isQuarantined.store(true, ordering: .relaxed)
    damaged = segment
    return StoreError(.corrupted, words, place: Place(segment: segment.id, offset: offset))
  }

  private func lookUp(_ record: RecordView, _ address: LogAddress) throws(StoreError) {
    let header = record.header
    let number = numbers[header.keyspace]
    switch header.kind {
    case .put, .tombstone:
      guard let number else {
        // The keyspace is dropped and no snapshot sees it. Its tombstones mean nothing any more.
        return
      }
      let hash = unsafe keyspaces[number].hash(record.key)
      keyspaces[number].locator.index.prefetch(hash)
      pending.append(
        RowBuffer.Row(
          hash: hash, address: address, isPut: header.isPut, keyspace: number,
          head: unsafe record.key.head(0)))
      if pending.count == 64 { try decide() }
    case .keyspaceDefinition:
      if let number, keyspaces[number].droppedAt.load(ordering: .acquiring) == .max { carry(address, header) }
    case .keyspaceDropped:
      // Rows that a snapshot sees are copied, so the record that drops them is copied too.
      let isNeeded = number != nil || header.sequence > horizon || log.manifest.lists(keyspace: header.keyspace)
      if isNeeded { carry(address, header) } else { forget(header, address) }
    case .dictionary:
      if let number, isDictionaryNeeded(record, keyspaces[number]) { carry(address, header) }
    case .retention:
      // Only all retentions together tell which versions have expired.
      if let number, keyspaces[number].droppedAt.load(ordering: .acquiring) == .max { carry(address, header) }
    case nil:
      carry(address, header)
    }
  }

  /// Whether a value is compressed with a dictionary, or may be later. The checkpoint has its own copy of the
  /// dictionaries it needs.
  private func isDictionaryNeeded(_ record: RecordView, _ keyspace: KeyspaceIndex) -> Bool {
    guard let id = record.dictionary?.id else { return true }
    return keyspace.mayUse(dictionary: id) || !log.segmentsUsing(dictionary: id).isEmpty
  }

  /// Leaves a deletion out, unless readers of changes need it.
  private func forget(_ deletion: RecordHeader, _ address: LogAddress) {
    if deletion.sequence > log.manifest.changes.held.load(ordering: .sequentiallyConsistent) {
      carry(address, deletion)
    } else {
      forgotten = max(forgotten, deletion.sequence)
    }
  }

  private func carry(_ address: LogAddress, _ header: RecordHeader) {
    carried.append(address)
    neededBytes += header.paddedLength
  }

  /// Decides which of the pending records are needed. Their cache lines of the hash index have been prefetched.
  private func decide() throws(StoreError) {
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    for row in pending {
      let keyspace = keyspaces[row.keyspace]
      let isNewest = unsafe keyspace.locator.index.find(row.hash) { $0 == row.address } != nil
      if isNewest {
        // Only snapshots see rows of a dropped keyspace.
        let dropped = keyspace.droppedAt.load(ordering: .acquiring)
        if dropped != .max { purge(upTo: dropped.previous, apartFromPinned: dropped.previous) }
      } else if index.versions.count > 0,
        let (_, expiredBy) = index.versions.version(row.hash, at: row.address)
      {
        let dropped = keyspace.droppedAt.load(ordering: .acquiring)
        let gone = min(expiredBy, dropped)
        if expiredBy < VersionTable.kept { pinned[row.address] = (row.hash, gone) }
        // In a keyspace that is not dropped and does not retain versions the index refers to the tombstone of such a
        // record, so the record does not lower the second bound.
        let isAlone = dropped == .max && keyspace.retainedSince.load(ordering: .relaxed) == 0
        purge(upTo: gone.previous, apartFromPinned: isAlone ? sequence : gone.previous)
      } else {
        // The record of the drop has the effect of a dropped keyspace's tombstones.
        if row.isPut || keyspace.droppedAt.load(ordering: .acquiring) <= sequence { continue }
        let tombstone = index.table.verified(row.address)
        if gone(tombstone.header, keyspace) <= horizon {
          doubtful.append((row.address, isLast: true))
        } else if hasSuccessors(row, keyspace, tombstone) {
          doubtful.append((row.address, isLast: false))
        } else {
          carry(row.address, tombstone.header)
        }
        continue
      }
      rows.append(row)
      neededBytes += index.table.verified(row.address).header.paddedLength
    }
    pending.removeAll(keepingCapacity: true)
  }

  private func purge(upTo sequence: CommitSequence, apartFromPinned: CommitSequence) {
    purged = min(purged, sequence)
    purgedApartFromPinned = min(purgedApartFromPinned, apartFromPinned)
  }

  /// The commit since which a tombstone, and what it deleted, is no longer retained. A retained tombstone may have
  /// expired as late as the last change of the retention, and the records it deleted with it.
  private func gone(_ tombstone: RecordHeader, _ keyspace: KeyspaceIndex) -> CommitSequence {
    max(tombstone.sequence, keyspace.retainedSince.load(ordering: .relaxed))
  }

  /// Whether the row has as many newer records as are retained: those have the effect that the tombstone had.
  private func hasSuccessors(_ row: RowBuffer.Row, _ keyspace: KeyspaceIndex, _ tombstone: RecordView) -> Bool {
    do throws(StoreError) {
      return unsafe try keyspace.locator.find(row.hash, tombstone.key) != nil
        && index.versions.keptCount(row.hash) >= Int(keyspace.oldVersions.load(ordering: .relaxed))
    } catch {
      return false
    }
  }

  /// Copies a doubtful tombstone after all if a snapshot has ended since the tombstone was looked at and the record
  /// that the snapshot needed stays in the log, or if an older version is copied for a snapshot: a later retention
  /// would bring that version back.
  private func carryDoubtful() {
    guard !doubtful.isEmpty else { return }
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    var horizonNow = Self.horizon(beside: inputs, log, checkpoint)
    let hasLost = pinned.contains { index.versions.version($0.value.hash, at: $0.key) == nil }
    if hasLost { horizonNow = min(horizonNow, purged) }
    for (address, isLast) in doubtful {
      let record = index.table.verified(address)
      let tombstone = record.header
      guard let number = numbers[tombstone.keyspace], case let keyspace = keyspaces[number] else { continue }
      let isRetained = keyspace.retainedSince.load(ordering: .relaxed) > 0
      let gone = gone(tombstone, keyspace)
      if isLast && gone > horizonNow || isRetained && gone > purgedApartFromPinned {
        carry(address, tombstone)
      } else if isLast, keyspace.droppedAt.load(ordering: .acquiring) == .max, !hasRow(record, keyspace) {
        forget(tombstone, address)
      }
    }
    doubtful = []
  }

  /// Whether the index has the row that a tombstone deleted, or its deletion.
  private func hasRow(_ tombstone: RecordView, _ keyspace: KeyspaceIndex) -> Bool {
    do throws(StoreError) {
      let hash = unsafe keyspace.hash(tombstone.key)
      return unsafe try keyspace.locator.find(hash, tombstone.key) != nil
    } catch {
      return false
    }
  }

  // MARK: Copies

  private func beginWriting() throws(StoreError) {
    carryDoubtful()
    guard rows.count + carried.count > 0 else {
      phase = .publish
      return
    }
    let order = KeyOrder(table: index.table, spare: try RowBuffer(capacity: max(1, rows.count)))
    rows.sortByKeyspace(with: order.spare)
    var start = 0
    while start < rows.count {
      var end = start + 1
      while end < rows.count, rows[end].keyspace == rows[start].keyspace { end += 1 }
      if keyspaces[rows[start].keyspace].isOrdered { order.sort(rows, start..<end, headStart: 0) }
      start = end
    }

    let epoch = try committer.betweenCommits { (writer) throws(StoreError) in try writer.log.currentEpoch() }
    let base = inputs.reduce(CommitSequence.max) { min($0, $1.baseSequence) }
    // Sequences may take more bytes than before, relative to the new base sequence.
    let growth = (rows.count + carried.count) * Format.padded(Varint.length(sequence - base))
    let size = SegmentHeader.size + neededBytes + growth + (neededBytes / Self.frameLength + 2) * 2 * FrameHeader.size
    let created = try log.createCompacted(
      epoch: epoch, size: Format.padded(size), baseSequence: base, compactedSequence: sequence)
    output = committer.betweenCommits { $0.log.enterCompacted(created) }
    try readMoves()
    if let checkpoint {
      list = MoveList(store: log.store, segment: created.header.id, sequence: checkpoint.sequence)
    }
    copies.reserveCapacity(rows.count)
    phase = .write(0)
  }

  private func write(from start: Int) throws(StoreError) {
    guard let output else { fatalError("copies without a segment") }
    if start == 0 {
      for address in carried { _ = try copy(address, of: nil, to: output) }
      carried = []
    }
    var row = start
    let limit = output.end.load(ordering: .relaxed) + Self.pieceLength
    while row < rows.count, output.end.load(ordering: .relaxed) < limit {
      if row + 8 < rows.count { index.table.prefetch(rows[row + 8].address) }
      let (address, length, oldLength) = try copy(rows[row].address, of: keyspaces[rows[row].keyspace], to: output)
      copies.append((address, UInt32(length / Format.unit), UInt32(oldLength / Format.unit)))
      row += 1
    }
    if row < rows.count {
      phase = .write(row)
    } else {
      if assembly.length > 0 { try assembly.finish() }
      phase = .publish
    }
  }

  /// Copies a record, whose checksum is verified first. `keyspace` is given for a record that the keyspace's index
  /// refers to. Returns the address of the copy and the lengths of both.
  private func copy(
    _ address: LogAddress, of keyspace: KeyspaceIndex?, to output: Segment
  ) throws(StoreError) -> (address: LogAddress, length: Int, oldLength: Int) {
    guard let record = index.table.record(address), let kind = record.header.kind else {
      throw damage("a record's checksum is wrong", in: input(of: address), at: index.table.place(address).offset)
    }
    let header = record.header
    let value =
      if let keyspace {
        reencoder.value(of: record, in: keyspace, isCompacted: isCompacted(address))
      } else {
        Reencoder.Value(record)
      }
    if assembly.length == 0 {
      frameNumber = frameNumber.next
      assembly.begin(in: output, at: output.end.load(ordering: .relaxed), frameNumber)
    }
    let copy = unsafe try assembly.add(
      kind, keyspace: header.keyspace, key: record.key, value: value.stored,
      compressedFrom: value.isCompressed ? header.rawLength : nil, dictionary: value.dictionary,
      version: header.version, sequence: header.sequence)
    newestRecord = max(newestRecord, header.sequence)
    if header.isTombstone { output.tombstoneBytes.add(copy.length, ordering: .relaxed) }
    if let checkpoint {
      let isCovered =
        header.sequence <= checkpoint.sequence && (header.isPut || header.isTombstone && mayBeKept(header))
      list?.places.append(isCovered ? placeInCheckpoint(address) : 0)
    }
    if assembly.length >= Self.frameLength { try assembly.finish() }
    return (copy.address, copy.length, header.paddedLength)
  }

  private func isCompacted(_ address: LogAddress) -> Bool { input(of: address).isCompacted }

  private func input(of address: LogAddress) -> Segment {
    let extent = index.table.extent(address)
    guard let input = inputs.first(where: { $0.extents.contains(extent) }) else {
      fatalError("a record of another segment")
    }
    return input
  }

  /// Whether a checkpoint may contain a tombstone.
  private func mayBeKept(_ tombstone: RecordHeader) -> Bool {
    numbers[tombstone.keyspace].map { keyspaces[$0].retainedSince.load(ordering: .relaxed) > 0 } ?? false
  }

  // MARK: Where the checkpoint has it

  private func readMoves() throws(StoreError) {
    guard checkpoint != nil else { return }
    for segment in inputs where segment.isCompacted && log.manifest.hasMoves(segment.id) {
      do throws(StoreError) {
        try readMoves(segment)
      } catch {
        // The process may have what it lacks now at a later attempt.
        if error.code == .noDescriptors || error.code == .noMemory { throw error }
        // Without the list, the records that have moved since the checkpoint cannot be found, now or later.
        checkpoint = nil
      }
    }
  }

  private func readMoves(_ segment: Segment) throws(StoreError) {
    let list = try log.moveList(segment)
    var offsets: [UInt32] = []
    offsets.reserveCapacity(list.places.count)
    var offset = SegmentHeader.size
    let end = segment.end.load(ordering: .relaxed)
    while offset < end,
      let frame = unsafe FrameView(
        segment.mapping.base + offset, available: end - offset, offset: offset, seed: segment.seed,
        baseSequence: segment.baseSequence, isCompacted: true)
    {
      frame.forEachRecord { _, offset in offsets.append(UInt32(offset / Format.unit)) }
      offset += frame.header.length
    }
    guard offsets.count == list.places.count else {
      throw StoreError(.damaged, "\(MoveList.fileName(segment.id)) belongs to another segment")
    }
    moves[segment.id] = (offsets, list.places)
  }

  private func placeInCheckpoint(_ address: LogAddress) -> UInt64 {
    let place = index.table.place(address)
    guard let (offsets, places) = moves[place.segment] else { return place.packed }
    let wanted = UInt32(place.offset / Format.unit)
    var low = 0
    var high = offsets.count
    while low < high {
      let middle = (low + high) / 2
      if offsets[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return low < offsets.count && offsets[low] == wanted ? places[low] : 0
  }

  // MARK: The exchange

  private func publish() throws(StoreError) {
    if let output {
      output.purge(upTo: purged, apartFromPinned: purgedApartFromPinned)
      output.newestRecord.store(newestRecord, ordering: .relaxed)
      output.isHeldBack.store(purgedApartFromPinned < sequence, ordering: .relaxed)
      // All tombstones count, including retained ones.
      var counted = output.tombstoneBytes.load(ordering: .relaxed)
      for row in copies.indices where rows[row].isPut { counted += Int(copies[row].length) * Format.unit }
      output.overhead.store(max(0, output.end.load(ordering: .relaxed) - counted), ordering: .relaxed)
      try log.harden(output, list)
    }
    // Makes the records durable that have superseded those left out.
    try log.syncs.sync(upTo: index.applying.load(ordering: .sequentiallyConsistent))
    try log.replace(inputs, by: output, forgotten: forgotten, keepsCheckpoint: checkpoint != nil)
    output?.file.close()
    log.counts.compactedBytes.add(output?.end.load(ordering: .relaxed) ?? 0, ordering: .relaxed)
    list = nil
    phase = .move(0)
  }

  private func move(from start: Int) {
    var row = start
    while row < rows.count, row - start < 16 * Self.rowsAtOnce {
      let end = min(row + Self.rowsAtOnce, rows.count)
      for next in row..<end { keyspaces[rows[next].keyspace].locator.index.prefetch(rows[next].hash) }
      committer.betweenCommits { writer in for next in row..<end { move(next, &writer) } }
      row = end
    }
    phase = .move(row)
    guard row == rows.count else { return }
    log.retire(inputs)
    phase = .over
    committer.endCompaction()
  }

  private func move(_ row: Int, _ writer: inout Writer) {
    let copy = copies[row]
    let isMoved = writer.move(
      keyspaces[rows[row].keyspace], rows[row].hash,
      from: Writer.Span(address: rows[row].address, length: Int(copy.oldLength) * Format.unit),
      to: Writer.Span(address: copy.address, length: Int(copy.length) * Format.unit), isPut: rows[row].isPut)
    if !isMoved, let lost = pinned[rows[row].address] { output?.losePinned(supersededBy: lost.gone) }
  }
}
