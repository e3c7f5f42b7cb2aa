import Synchronization

/// What is done with a batch before it is in the log.
extension Writer {
  /// Refuses a batch whose caller expects that nothing has been committed since it took a snapshot.
  func checkNewest(_ batch: BatchBuffer) throws(StoreError) {
    guard let expected = batch.expectedNewest else { return }
    let newest = index.published.load(ordering: .relaxed)
    guard newest != expected else { return }
    throw StoreError(.conflict, "the newest commit has sequence \(newest), but sequence \(expected) was expected")
  }

  /// Looks up the row of each change, and checks the expectations.
  func lookUp(_ batch: BatchBuffer) throws(StoreError) {
    let changes = unsafe batch.changes
    let count = batch.changeCount
    if count > 1 {
      prefetchSlots(batch, from: 0)
      prefetchSlots(batch, from: Self.groupSize)
      prefetchRecords(batch, from: 0)
    }
    var hasConflict = false
    for position in 0..<count {
      if count > 1, position % Self.groupSize == 0 {
        prefetchSlots(batch, from: position + 2 * Self.groupSize)
        prefetchRecords(batch, from: position + Self.groupSize)
      }
      let change = unsafe changes + position
      try unsafe change.pointee.keyspace.withBorrowed { (keyspace) throws(StoreError) in
        try unsafe lookUp(keyspace, batch, change)
      }
      let sequence = unsafe change.pointee.found == .row ? change.pointee.sequence : nil
      if unsafe !change.pointee.expectation.holds(sequence) { hasConflict = true }
    }
    if hasConflict { throw conflict(batch) }
    prefetchPlaces(batch, from: 0)
  }

  /// The number of changes whose rows are prefetched together, so that their cache misses overlap.
  static let groupSize = 32

  private func group(_ batch: BatchBuffer, from start: Int) -> Range<Int> {
    min(start, batch.changeCount)..<min(start + Self.groupSize, batch.changeCount)
  }

  private func prefetchSlots(_ batch: BatchBuffer, from start: Int) {
    for position in group(batch, from: start) {
      let change = unsafe batch.changes + position
      unsafe change.pointee.keyspace.withBorrowed { unsafe $0.locator.index.prefetch(change.pointee.hash) }
    }
  }

  /// Prefetches the records with no other work in between; `Scan` explains why.
  private func prefetchRecords(_ batch: BatchBuffer, from start: Int) {
    let group = group(batch, from: start)
    for position in group {
      let change = unsafe batch.changes + position
      unsafe change.pointee.address = unsafe change.pointee.keyspace.withBorrowed {
        unsafe $0.locator.likelyAddress(change.pointee.hash)
      }
    }
    for position in group {
      let address = unsafe batch.changes[position].address
      if address != 0 { index.table.prefetch(address) }
    }
  }

  /// Prefetches where new rows will be entered: first the hash pages and the nodes above the leaves, then the leaves.
  func prefetchPlaces(_ batch: BatchBuffer, from start: Int) {
    unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.groupSize) { nodes in
      var row = 0
      unsafe forEachNew(batch, from: start) { keyspace, hash, key in
        keyspace.locator.index.prefetchForInsertion(hash)
        unsafe nodes[row] = unsafe keyspace.tree?.prefetchInner(key) ?? 0
        row &+= 1
      }
      row = 0
      unsafe forEachNew(batch, from: start) { keyspace, _, key in
        unsafe keyspace.tree?.prefetchLeaf(key, below: nodes[row])
        row &+= 1
      }
    }
  }

  @inline(__always)
  private func forEachNew(
    _ batch: BatchBuffer, from start: Int, _ body: (KeyspaceIndex, RowHash, UnsafeRawBufferPointer) -> Void
  ) {
    for position in group(batch, from: start) {
      let change = unsafe batch.changes + position
      guard unsafe change.pointee.found == .nothing, unsafe change.pointee.kind == .put else { continue }
      unsafe change.pointee.keyspace.withBorrowed { unsafe body($0, change.pointee.hash, batch.key(change)) }
    }
  }

  @inline(__always)
  private func lookUp(
    _ keyspace: KeyspaceIndex, _ batch: BatchBuffer, _ change: UnsafeMutablePointer<BatchBuffer.Change>
  ) throws(StoreError) {
    let key = unsafe batch.key(change)
    try requireExisting(keyspace)
    guard let found = try unsafe keyspace.locator.find(change.pointee.hash, key) else {
      unsafe change.pointee.found = .nothing
      return
    }
    unsafe change.pointee.address = unsafe found.address
    unsafe change.pointee.found = unsafe found.record.header.isTombstone ? .tombstone : .row
    unsafe change.pointee.sequence = unsafe found.record.header.sequence
    unsafe change.pointee.version = unsafe found.record.header.version
    unsafe change.pointee.length = unsafe found.record.header.paddedLength
    unsafe change.pointee.foundRawLength = unsafe found.record.header.rawLength
  }

  private func conflict(_ batch: BatchBuffer) -> StoreError {
    var conflicts: [StoreError.Conflict] = []
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      let sequence = unsafe change.pointee.found == .row ? change.pointee.sequence : nil
      guard unsafe !change.pointee.expectation.holds(sequence) else { continue }
      let key = unsafe batch.key(change)
      unsafe conflicts.append(
        StoreError.Conflict(
          keyspace: change.pointee.keyspace.takeUnretainedValue().name,
          key: (try? Key(stored: key)) ?? .bytes(Array(key)),
          expected: change.pointee.expectation, found: sequence))
    }
    let others = conflicts.count > 1 ? " and \(conflicts.count - 1) more" : ""
    return StoreError(.conflict, "\(conflicts[0])\(others)", conflicts: conflicts)
  }

  func isWritten(_ change: UnsafeMutablePointer<BatchBuffer.Change>) -> Bool {
    switch unsafe change.pointee.kind {
    case .put: true
    case .delete: unsafe change.pointee.found == .row
    case .check: false
    }
  }

  /// What the frame of a batch takes. Also notes in the batch whether it is the first to write to a keyspace.
  ///
  /// A batch that puts rows replaces space if these have fewer bytes together than the rows that it replaces and
  /// deletes. Lengths are those before compression: a shorter value may compress worse than a longer
  /// one. A replaced version that its keyspace retains frees nothing.
  func needs(of batch: BatchBuffer) throws(StoreError) -> FrameNeeds {
    var bound = FrameHeader.size
    var hasPuts = false
    var hasNewKeyspace = false
    var (taken, freed) = (0, 0)
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe isWritten(change) else { continue }
      unsafe bound += 64 + change.pointee.keyLength + change.pointee.storedLength
      let (nameLength, isRetained) = unsafe change.pointee.keyspace.withBorrowed { keyspace in
        (
          keyspace.definedAt.load(ordering: .relaxed) == 0 ? keyspace.name.utf8.count : 0,
          keyspace.oldVersions.load(ordering: .relaxed) > 0
        )
      }
      if nameLength > 0 {
        bound += 64 + nameLength
        hasNewKeyspace = true
      }
      if unsafe change.pointee.kind == .put {
        hasPuts = true
        unsafe taken += change.pointee.rawLength
        if unsafe change.pointee.found != .row { unsafe taken += change.pointee.keyLength }
      }
      if unsafe change.pointee.found == .row, !isRetained { unsafe freed += change.pointee.foundRawLength }
    }
    guard bound <= Format.maximumFrameLength - SegmentHeader.size else {
      throw StoreError(.batchTooLarge, "the batch takes \(bound) bytes, more than 4 GiB")
    }
    batch.definesKeyspaces = hasNewKeyspace
    return FrameNeeds(bound: bound, effect: !hasPuts ? .frees : taken < freed ? .replaces : .takes)
  }

  /// Reserves the memory that the indexes need for a batch before the batch is in the log, while it can still be
  /// refused.
  mutating func reserveMemory(_ batch: BatchBuffer, _ bound: Int) throws(StoreError) {
    var (newRows, versions, longestKey, bytes) = (0, 0, 0, 0)
    var keyspace: Unmanaged<KeyspaceIndex>?
    /// New rows of the current keyspace.
    var rows = 0
    func reserve() throws(StoreError) {
      guard rows > 0, let keyspace = unsafe keyspace else { return }
      bytes += try unsafe keyspace.withBorrowed { (keyspace) throws(StoreError) in
        try keyspace.locator.index.reserve(rows)
      }
      newRows += rows
      rows = 0
    }
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe isWritten(change) else { continue }
      if unsafe change.pointee.found != .nothing {
        versions += 1
        continue
      }
      if unsafe keyspace?.toOpaque() != change.pointee.keyspace.toOpaque() { try reserve() }
      unsafe keyspace = unsafe change.pointee.keyspace
      rows += 1
      longestKey = unsafe max(longestKey, change.pointee.keyLength)
    }
    try reserve()
    if versions > 0 { bytes += try index.versions.reserve(versions) }
    if newRows > 0 { bytes += OrderedIndex.memory(newRows, longestKey: longestKey) }
    try index.arena.reserve(bytes)
    try assembly.reserve(frame: bound)
  }

  /// Defines the keyspaces that the batch is the first to write to.
  mutating func define(_ batch: BatchBuffer, _ sequence: CommitSequence) throws(StoreError) {
    for position in 0..<batch.changeCount where unsafe isWritten(batch.changes + position) {
      try unsafe define(batch.changes[position].keyspace.takeUnretainedValue(), sequence)
    }
  }

  mutating func define(_ keyspace: KeyspaceIndex, _ sequence: CommitSequence) throws(StoreError) {
    guard keyspace.definedAt.load(ordering: .relaxed) == 0 else { return }
    let name = Array(keyspace.name.utf8)
    let order: [UInt8] = [keyspace.isOrdered ? 0 : 1]
    _ = try unsafe name.withRawBytes { (name) throws(StoreError) in
      try unsafe order.withRawBytes { (order) throws(StoreError) in
        try unsafe assembly.add(
          .keyspaceDefinition, keyspace: keyspace.id, key: name, value: order, compressedFrom: nil, version: 0)
      }
    }
    keyspace.definedAt.store(sequence, ordering: .releasing)
    log.shared.manifest.note(
      Manifest.Keyspace(id: keyspace.id, isOrdered: keyspace.isOrdered, definedAt: sequence, name: keyspace.name))
  }

  mutating func assemble(_ batch: BatchBuffer) throws(StoreError) {
    var raw = 0
    var stored = 0
    var live = 0
    var deleted = 0
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe isWritten(change) else { continue }
      let isPut = unsafe change.pointee.kind == .put
      let version = unsafe change.pointee.found == .row ? change.pointee.version : 0
      let (address, length) = try unsafe assembly.add(
        isPut ? .put : .tombstone, keyspace: change.pointee.keyspace.withBorrowed { $0.id },
        key: unsafe batch.key(change),
        value: unsafe UnsafeRawBufferPointer(
          start: batch.bytes + change.pointee.value, count: isPut ? change.pointee.storedLength : 0),
        compressedFrom: unsafe change.pointee.isCompressed ? change.pointee.rawLength : nil,
        dictionary: change.pointee.dictionary, version: isPut ? version &+ 1 : version)
      unsafe change.pointee.newAddress = address
      // While its keyspace retains older versions, a tombstone is retained like the version that it deletes.
      let isKept = unsafe isPut || change.pointee.keyspace.withBorrowed { $0.oldVersions.load(ordering: .relaxed) > 0 }
      if isKept {
        unsafe change.pointee.keyspace.withBorrowed { $0.live.add(length, extent: assembly.segmentExtent) }
        live &+= length
      } else {
        deleted &+= length
      }
      if isPut {
        unsafe change.pointee.keyspace.withBorrowed { unsafe note(put: change.pointee.rawLength, $0) }
        unsafe raw &+= change.pointee.rawLength
        unsafe stored &+= change.pointee.storedLength
      }
    }
    assembly.count(live: live, tombstones: deleted)
    counts.rawBytes.add(raw, ordering: .relaxed)
    counts.storedBytes.add(stored, ordering: .relaxed)
  }
}
