import Synchronization

/// Takes batches one after the other: checks what they expect, gives them their sequence, appends them to the log,
/// enters them into the index, and publishes them. Readers never wait for any of it.
final class Committer: @unchecked Sendable {
  private let log: Log
  private let index: Index
  private let lock = Lock<Void>(())
  private let isClosed = Atomic<Bool>(false)
  /// Snapshots that have ended and whose versions are still kept.
  private let ended = Lock<[UInt64]>([])
  private let hasEnded = Atomic<Bool>(false)
  private let hasDropped = Atomic<Bool>(false)
  let commitCount = Atomic<Int>(0)
  /// Bytes of values as they were given and as they are stored, since the store was opened.
  let rawBytes = Atomic<Int>(0)
  let storedBytes = Atomic<Int>(0)

  // Touched under the lock only.
  private var assembly: FrameAssembly
  /// For each snapshot the older versions that no later snapshot needs.
  private var pinned: [UInt64: [VersionName]] = [:]
  /// Versions that the commit at hand makes one too many of their rows.
  private var expired: [VersionName] = []

  /// Keyspaces that an older snapshot may still see.
  private var droppedKeyspaces: [KeyspaceIndex] = []
  private var isCompacting = false

  private struct VersionName {
    let hash: UInt64
    let sequence: UInt64
  }

  init(log: Log, index: Index) {
    self.log = log
    self.index = index
    assembly = FrameAssembly(log: log)
  }

  /// Calls `body` between two commits, and then lets go of what snapshots that have ended meanwhile needed.
  func betweenCommits<R, E>(_ body: () throws(E) -> R) throws(E) -> R {
    defer { if hasEnded.load(ordering: .sequentiallyConsistent) { dropEndedSnapshots() } }
    return try lock.withLock { (_) throws(E) in try body() }
  }

  /// Returns the commit's sequence once it is as durable as asked.
  func commit(_ batch: BatchBuffer, _ durability: Durability) throws(StoreError) -> UInt64 {
    let sequence = try append(batch, isSynced: durability == .durable)
    if durability == .durable { try log.sync(upTo: sequence) }
    return sequence
  }

  /// Everything but making it durable.
  func append(_ batch: BatchBuffer, isSynced: Bool) throws(StoreError) -> UInt64 {
    defer { if hasEnded.load(ordering: .sequentiallyConsistent) { dropEndedSnapshots() } }
    return try lock.withLockSoon { (_) throws(StoreError) in try appendLocked(batch, isSynced: isSynced) }
  }

  func close() {
    betweenCommits { isClosed.store(true, ordering: .releasing) }
  }

  private func appendLocked(_ batch: BatchBuffer, isSynced: Bool) throws(StoreError) -> UInt64 {
    guard !isClosed.load(ordering: .relaxed) else { throw StoreError(.closed, "the store is closed") }
    try log.checkHealth()
    try look(batch)
    let (bound, hasPuts, hasNewKeyspace) = try bound(batch)
    guard bound > FrameHeader.size else { return index.published.load(ordering: .relaxed) }

    let sequence = try assembly.begin(bound: bound, freesSpace: !hasPuts)
    if hasNewKeyspace { try define(batch, sequence) }
    try assemble(batch, into: &assembly)
    try assembly.finish(isSynced: isSynced)
    index.applying.store(sequence, ordering: .sequentiallyConsistent)
    do throws(StoreError) {
      try apply(batch, sequence)
    } catch {
      // The commit is in the log and not to be seen; reopening decides from the log alone.
      throw log.poison(FileError(.system(0), "index: \(error.message) in", log.directory))
    }
    index.published.store(sequence, ordering: .sequentiallyConsistent)
    commitCount.add(1, ordering: .relaxed)
    dropReplaced(batch)
    return sequence
  }

  // MARK: Before the log

  /// Finds each row as it is, and checks what is expected of it.
  private func look(_ batch: BatchBuffer) throws(StoreError) {
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
        try unsafe look(keyspace, batch, change)
      }
      let revision = unsafe change.pointee.found == .row ? change.pointee.revision : nil
      if unsafe !change.pointee.expectation.holds(revision) { hasConflict = true }
    }
    if hasConflict { throw conflict(batch) }
    prefetchPlaces(batch, from: 0)
  }

  /// Changes whose rows are asked for together, so that their cache misses come together.
  private static let groupSize = 32

  private func group(_ batch: BatchBuffer, from start: Int) -> Range<Int> {
    min(start, batch.changeCount)..<min(start + Self.groupSize, batch.changeCount)
  }

  private func prefetchSlots(_ batch: BatchBuffer, from start: Int) {
    for position in group(batch, from: start) {
      let change = unsafe batch.changes + position
      unsafe change.pointee.keyspace.withBorrowed { unsafe $0.locator.index.prefetch(change.pointee.hash) }
    }
  }

  /// With nothing between them, as in `Scan`.
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

  /// Asks for where new rows will go.
  private func prefetchPlaces(_ batch: BatchBuffer, from start: Int) {
    if batch.changeCount > 1 {
      unsafe forEachNew(batch, from: start) { keyspace, hash, key in
        keyspace.locator.index.prefetchForInsertion(hash)
        unsafe keyspace.tree?.prefetchInner(key)
      }
    }
    unsafe forEachNew(batch, from: start) { keyspace, _, key in unsafe keyspace.tree?.prefetchLeaf(key) }
  }

  @inline(__always)
  private func forEachNew(
    _ batch: BatchBuffer, from start: Int, _ body: (KeyspaceIndex, UInt64, UnsafeRawBufferPointer) -> Void
  ) {
    for position in group(batch, from: start) {
      let change = unsafe batch.changes + position
      guard unsafe change.pointee.found == .nothing, unsafe change.pointee.kind == .put else { continue }
      unsafe change.pointee.keyspace.withBorrowed { unsafe body($0, change.pointee.hash, batch.key(change)) }
    }
  }

  @inline(__always)
  private func look(
    _ keyspace: KeyspaceIndex, _ batch: BatchBuffer, _ change: UnsafeMutablePointer<BatchBuffer.Change>
  ) throws(StoreError) {
    let key = unsafe batch.key(change)
    guard keyspace.droppedAt.load(ordering: .relaxed) == .max else { throw Self.dropped(keyspace) }
    guard let found = try unsafe keyspace.locator.find(change.pointee.hash, key) else {
      unsafe change.pointee.found = .nothing
      return
    }
    unsafe change.pointee.address = unsafe found.address
    unsafe change.pointee.found = unsafe found.record.header.isTombstone ? .tombstone : .row
    unsafe change.pointee.revision = unsafe found.record.header.revision
    unsafe change.pointee.version = unsafe found.record.header.version
    unsafe change.pointee.length = unsafe found.record.header.paddedLength
  }

  private func conflict(_ batch: BatchBuffer) -> StoreError {
    var conflicts: [StoreError.Conflict] = []
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      let revision = unsafe change.pointee.found == .row ? change.pointee.revision : nil
      guard unsafe !change.pointee.expectation.holds(revision) else { continue }
      let key = unsafe batch.key(change)
      unsafe conflicts.append(
        StoreError.Conflict(
          keyspace: change.pointee.keyspace.takeUnretainedValue().name,
          reference: (try? Reference(stored: key)) ?? .bytes(Array(key)),
          expected: change.pointee.expectation, found: revision))
    }
    let others = conflicts.count > 1 ? " and \(conflicts.count - 1) more" : ""
    return StoreError(.conflict, "\(conflicts[0])\(others)", conflicts: conflicts)
  }

  private func isWritten(_ change: UnsafeMutablePointer<BatchBuffer.Change>) -> Bool {
    switch unsafe change.pointee.kind {
    case .put: true
    case .delete: unsafe change.pointee.found == .row
    case .check: false
    }
  }

  /// At least the length of the frame, whether anything is put, and whether a keyspace is written to for the first time.
  private func bound(_ batch: BatchBuffer) throws(StoreError) -> (length: Int, hasPuts: Bool, hasNewKeyspace: Bool) {
    var bound = FrameHeader.size
    var hasPuts = false
    var hasNewKeyspace = false
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe isWritten(change) else { continue }
      if unsafe change.pointee.kind == .put { hasPuts = true }
      unsafe bound += 64 + change.pointee.keyLength + change.pointee.storedLength
      let nameLength = unsafe change.pointee.keyspace.withBorrowed {
        $0.definedAt.load(ordering: .relaxed) == 0 ? $0.name.utf8.count : 0
      }
      if nameLength > 0 {
        bound += 64 + nameLength
        hasNewKeyspace = true
      }
    }
    guard bound <= Format.maximumFrameLength - SegmentHeader.size else {
      throw StoreError(.batchTooLarge, "the batch takes \(bound) bytes, more than 4 GiB")
    }
    return (bound, hasPuts, hasNewKeyspace)
  }

  /// Defines the keyspaces that the batch is the first to write to.
  private func define(_ batch: BatchBuffer, _ sequence: UInt64) throws(StoreError) {
    for position in 0..<batch.changeCount where unsafe isWritten(batch.changes + position) {
      try unsafe define(batch.changes[position].keyspace.takeUnretainedValue(), sequence)
    }
  }

  private func define(_ keyspace: KeyspaceIndex, _ sequence: UInt64) throws(StoreError) {
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
    log.manifest.withLock { manifest in
      manifest.nextKeyspace = max(manifest.nextKeyspace, keyspace.id + 1)
      manifest.keyspaces.append(
        Manifest.Keyspace(id: keyspace.id, isOrdered: keyspace.isOrdered, definedAt: sequence, name: keyspace.name))
      manifest.keyspaces.sort { $0.id < $1.id }
    }
  }

  private func assemble(_ batch: BatchBuffer, into assembly: inout FrameAssembly) throws(StoreError) {
    var raw = 0
    var stored = 0
    var live = 0
    var deleted = 0
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe isWritten(change) else { continue }
      let isPut = unsafe change.pointee.kind == .put
      let version = unsafe change.pointee.found == .row ? change.pointee.version : 0
      let (address, length) = unsafe try assembly.add(
        isPut ? .put : .tombstone, keyspace: change.pointee.keyspace.withBorrowed { $0.id },
        key: unsafe batch.key(change),
        value: unsafe UnsafeRawBufferPointer(
          start: batch.bytes + change.pointee.value, count: isPut ? change.pointee.storedLength : 0),
        compressedFrom: unsafe change.pointee.isCompressed ? change.pointee.rawLength : nil,
        dictionary: change.pointee.dictionary, version: isPut ? version &+ 1 : version)
      unsafe change.pointee.newAddress = address
      // A deletion is kept as long as what it deleted.
      let isKept = unsafe isPut || change.pointee.keyspace.withBorrowed { $0.oldVersions.load(ordering: .relaxed) > 0 }
      if isKept {
        unsafe change.pointee.keyspace.withBorrowed { $0.live.add(length, slot: assembly.segmentSlot) }
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
    rawBytes.add(raw, ordering: .relaxed)
    storedBytes.add(stored, ordering: .relaxed)
  }

  // MARK: Dictionaries

  /// Whether enough values of some keyspace have been put for training a dictionary to be tried.
  let isTrainingDue = Atomic<Bool>(false)

  @inline(__always)
  private func note(put bytes: Int, _ keyspace: KeyspaceIndex) {
    let sum = keyspace.putBytes.load(ordering: .relaxed) &+ bytes
    keyspace.putBytes.store(sum, ordering: .relaxed)
    if sum >= keyspace.nextTraining.load(ordering: .relaxed) { isTrainingDue.store(true, ordering: .relaxed) }
  }

  /// Makes a dictionary the one that a keyspace's new values are compressed with, by a commit of one record. `stored` is
  /// an LZ4 block of it, or nil.
  func adopt(_ content: [UInt8], stored: [UInt8]?, for keyspace: KeyspaceIndex) throws(StoreError) {
    try betweenCommits { () throws(StoreError) in
      guard !isClosed.load(ordering: .relaxed) else { throw StoreError(.closed, "the store is closed") }
      try log.checkHealth()
      guard keyspace.droppedAt.load(ordering: .relaxed) == .max, keyspace.definedAt.load(ordering: .relaxed) > 0,
        let id = index.dictionaries.nextID
      else { return }
      let value = stored ?? content
      let key = unsafe withUnsafeBytes(of: id.littleEndian) { unsafe Array($0) }
      let sequence = try assembly.begin(bound: FrameHeader.size + RecordHeader.maximumLength + key.count + value.count)
      try unsafe key.withRawBytes { (key) throws(StoreError) in
        try unsafe value.withRawBytes { (value) throws(StoreError) in
          _ = try unsafe assembly.add(
            .dictionary, keyspace: keyspace.id, key: key, value: value,
            compressedFrom: stored == nil ? nil : content.count, version: 0)
        }
      }
      try assembly.finish(isSynced: false)
      index.applying.store(sequence, ordering: .sequentiallyConsistent)
      index.published.store(sequence, ordering: .sequentiallyConsistent)
      commitCount.add(1, ordering: .relaxed)
      let dictionary = StoredDictionary(id: id, keyspace: keyspace.id, content: content)
      index.dictionaries.add(dictionary)
      unsafe keyspace.dictionary.store(Unmanaged.passUnretained(dictionary), ordering: .releasing)
    }
  }

  // MARK: Keyspaces

  private static func dropped(_ keyspace: KeyspaceIndex) -> StoreError {
    StoreError(.keyspaceMismatch, "keyspace \(keyspace.name) has been dropped")
  }

  /// Takes a keyspace away with all its rows, by a commit of one record.
  func drop(_ keyspace: KeyspaceIndex, _ durability: Durability) throws(StoreError) -> UInt64 {
    let sequence = try betweenCommits { () throws(StoreError) in
      guard !isClosed.load(ordering: .relaxed) else { throw StoreError(.closed, "the store is closed") }
      try log.checkHealth()
      guard keyspace.droppedAt.load(ordering: .relaxed) == .max else { throw Self.dropped(keyspace) }
      return try dropLocked(keyspace, isSynced: durability == .durable)
    }
    if durability == .durable { try log.sync(upTo: sequence) }
    return sequence
  }

  private func dropLocked(_ keyspace: KeyspaceIndex, isSynced: Bool) throws(StoreError) -> UInt64 {
    guard keyspace.definedAt.load(ordering: .relaxed) > 0 else {
      let sequence = index.published.load(ordering: .relaxed)
      keyspace.droppedAt.store(sequence, ordering: .releasing)
      index.remove(keyspace)
      clear(keyspace)
      return sequence
    }
    let sequence = try assembly.begin(bound: FrameHeader.size + RecordHeader.maximumLength, freesSpace: true)
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    _ = try unsafe assembly.add(
      .keyspaceDropped, keyspace: keyspace.id, key: none, value: none, compressedFrom: nil, version: 0)
    try assembly.finish(isSynced: isSynced)
    keyspace.droppedAt.store(sequence, ordering: .releasing)
    index.remove(keyspace)
    log.forget(keyspace.id, droppedAt: sequence)
    for (slot, bytes) in keyspace.live.bySlot { log.segment(slot: slot).liveBytes.subtract(bytes, ordering: .relaxed) }
    index.applying.store(sequence, ordering: .sequentiallyConsistent)
    index.published.store(sequence, ordering: .sequentiallyConsistent)
    commitCount.add(1, ordering: .relaxed)
    clear(keyspace)
    return sequence
  }

  /// Changes how many versions of each row are kept behind its newest, by a commit of its own; none if that is what is
  /// kept already.
  func retain(
    _ keyspace: KeyspaceIndex, oldVersions: UInt32, _ durability: Durability
  ) throws(StoreError) -> UInt64 {
    let sequence = try betweenCommits { () throws(StoreError) in
      guard !isClosed.load(ordering: .relaxed) else { throw StoreError(.closed, "the store is closed") }
      try log.checkHealth()
      guard keyspace.droppedAt.load(ordering: .relaxed) == .max else { throw Self.dropped(keyspace) }
      guard oldVersions != keyspace.oldVersions.load(ordering: .relaxed) else {
        return index.published.load(ordering: .relaxed)
      }
      return try retainLocked(keyspace, oldVersions, isSynced: durability == .durable)
    }
    if durability == .durable { try log.sync(upTo: sequence) }
    return sequence
  }

  private func retainLocked(
    _ keyspace: KeyspaceIndex, _ oldVersions: UInt32, isSynced: Bool
  ) throws(StoreError) -> UInt64 {
    // A reader that knows nothing of it has to be told before it is in the log.
    try log.use(Format.retention)
    let sequence = try assembly.begin(
      bound: FrameHeader.size + 2 * RecordHeader.maximumLength + keyspace.name.utf8.count)
    try define(keyspace, sequence)
    log.note(keyspace.id, oldVersions: oldVersions)
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    _ = try unsafe withUnsafeBytes(of: oldVersions.littleEndian) { (value) throws(StoreError) in
      try unsafe assembly.add(
        .retention, keyspace: keyspace.id, key: none, value: value, compressedFrom: nil, version: 0)
    }
    try assembly.finish(isSynced: isSynced)
    keyspace.oldVersions.store(oldVersions, ordering: .relaxed)
    keyspace.retainedSince.store(sequence, ordering: .relaxed)
    index.applying.store(sequence, ordering: .sequentiallyConsistent)
    var rows: Set<UInt64> = []
    let versions = index.versions.versions { version, expiredBy in
      version.keyspace == keyspace.id && expiredBy == VersionTable.kept
    }
    for version in versions where rows.insert(version.hash).inserted {
      expire(keyspace, version.hash, keeping: Int(oldVersions), at: sequence)
    }
    index.published.store(sequence, ordering: .sequentiallyConsistent)
    commitCount.add(1, ordering: .relaxed)
    dropExpired()
    return sequence
  }

  private func clear(_ keyspace: KeyspaceIndex) {
    droppedKeyspaces.append(keyspace)
    pin(keyspace, 1)
    hasDropped.store(true, ordering: .relaxed)
    clearDropped()
  }

  /// Gives back the memory of keyspaces that no snapshot sees any more. Who reads the latest state has pinned the epoch
  /// before it looked whether the keyspace is there.
  private func clearDropped() {
    guard !isCompacting else { return }
    droppedKeyspaces.removeAll { keyspace in
      if let oldest = index.snapshots.oldest, keyspace.exists(at: oldest) { return false }
      pin(keyspace, -1)
      keyspace.clear()
      if keyspace.retainedSince.load(ordering: .relaxed) > 0 { removeKept(of: keyspace) }
      return true
    }
    hasDropped.store(!droppedKeyspaces.isEmpty, ordering: .relaxed)
  }

  private func removeKept(of keyspace: KeyspaceIndex) {
    let kept = index.versions.versions { version, expiredBy in
      version.keyspace == keyspace.id && expiredBy == VersionTable.kept
    }
    for version in kept { _ = index.versions.remove(version.hash, sequence: version.sequence) }
  }

  // MARK: Behind the log

  /// Enters the changes into the index. Until they are published, readers who meet them look for the version before.
  private func apply(_ batch: BatchBuffer, _ sequence: UInt64) throws(StoreError) {
    let isLarge = batch.changeCount > Self.groupSize
    for position in 0..<batch.changeCount {
      if isLarge, position % Self.groupSize == 0 { prefetchPlaces(batch, from: position + Self.groupSize) }
      let change = unsafe batch.changes + position
      guard unsafe isWritten(change) else { continue }
      try unsafe change.pointee.keyspace.withBorrowed { (keyspace) throws(StoreError) in
        try unsafe apply(keyspace, batch, change, sequence)
      }
    }
  }

  @inline(__always)
  private func apply(
    _ keyspace: KeyspaceIndex, _ batch: BatchBuffer, _ change: UnsafeMutablePointer<BatchBuffer.Change>,
    _ sequence: UInt64
  ) throws(StoreError) {
    let oldVersions = Int(keyspace.oldVersions.load(ordering: .relaxed))
    switch unsafe change.pointee.found {
    case .row:
      unsafe supersede(keyspace, change, sequence, expiredBy: oldVersions == 0 ? sequence : VersionTable.kept)
      unsafe replace(keyspace, change)
      if oldVersions == 0 {
        unsafe countDead(keyspace, change.pointee.address, change.pointee.length)
      } else {
        unsafe expire(keyspace, change.pointee.hash, keeping: oldVersions, at: sequence)
      }
      if unsafe change.pointee.kind == .delete { keyspace.rowCount.subtract(1, ordering: .relaxed) }
    case .tombstone:
      // One that is there for a snapshot only is no version that is kept.
      let isKept = unsafe oldVersions > 0 && index.versions.keptCount(change.pointee.hash) > 0
      if isKept { unsafe supersede(keyspace, change, sequence, expiredBy: VersionTable.kept) }
      unsafe replace(keyspace, change)
      if isKept { unsafe expire(keyspace, change.pointee.hash, keeping: oldVersions, at: sequence) }
      keyspace.rowCount.add(1, ordering: .relaxed)
    case .nothing:
      unsafe index.newRows.note(change.pointee.hash)
      try unsafe keyspace.insert(batch.key(change), change.pointee.hash, change.pointee.newAddress)
      keyspace.rowCount.add(1, ordering: .relaxed)
    }
  }

  /// Adds what is the row's newest version to the older ones.
  @inline(__always)
  private func supersede(
    _ keyspace: KeyspaceIndex, _ change: UnsafeMutablePointer<BatchBuffer.Change>, _ sequence: UInt64, expiredBy: UInt64
  ) {
    let isDelete = unsafe change.pointee.kind == .delete
    unsafe index.versions.add(
      VersionTable.Version(
        hash: change.pointee.hash, address: change.pointee.address, sequence: change.pointee.revision,
        supersededBy: sequence, keyspace: keyspace.id, units: UInt32(change.pointee.length / Format.unit),
        isTombstone: change.pointee.found == .tombstone, isBeforeDeletion: isDelete),
      isOfDeletedRow: isDelete, expiredBy: expiredBy)
  }

  @inline(__always)
  private func countDead(_ keyspace: KeyspaceIndex, _ address: UInt64, _ length: Int) {
    guard let segment = log.segment(ifAnyAt: address) else { return }
    segment.liveBytes.subtract(length, ordering: .relaxed)
    keyspace.live.add(-length, slot: segment.slot)
  }

  /// Lets go of the oldest versions of a row that are too many.
  private func expire(_ keyspace: KeyspaceIndex, _ hash: UInt64, keeping count: Int, at sequence: UInt64) {
    let versions = index.versions.expire(hash, keeping: count, at: sequence)
    for version in versions {
      countDead(keyspace, version.address, version.bytes)
      expired.append(VersionName(hash: hash, sequence: version.sequence))
    }
    guard count == 0, !versions.isEmpty else { return }
    do throws(StoreError) {
      // A deletion is kept for the sake of what is behind it.
      guard let newest = unsafe try keyspace.locator.find(hash), unsafe newest.record.header.isTombstone else { return }
      let length = unsafe newest.record.header.paddedLength
      unsafe countDead(keyspace, newest.address, length)
      unsafe log.segment(newest.address).tombstoneBytes.add(length, ordering: .relaxed)
    } catch {
      // A record cannot be read any more, and goes on to count as live.
    }
  }

  /// Pages may have split since the row was found, so its slot is looked for again, by address.
  @inline(__always)
  private func replace(_ keyspace: KeyspaceIndex, _ change: UnsafeMutablePointer<BatchBuffer.Change>) {
    let slot = unsafe keyspace.locator.index.find(change.pointee.hash) { unsafe $0 == change.pointee.address }
    guard let slot = unsafe slot else { preconditionFailure("a row has lost its slot") }
    unsafe keyspace.locator.index.replace(slot, change.pointee.newAddress)
  }

  /// Nobody needs the versions that the batch replaced, unless a snapshot lies in their span.
  private func dropReplaced(_ batch: BatchBuffer) {
    let hasSnapshots = !index.snapshots.isEmpty
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe change.pointee.found == .row, unsafe isWritten(change),
        unsafe change.pointee.keyspace.withBorrowed({ $0.oldVersions.load(ordering: .relaxed) == 0 })
      else { continue }
      unsafe drop(change.pointee.hash, change.pointee.revision, mayBeNeeded: hasSnapshots)
    }
    if !expired.isEmpty { dropExpired() }
  }

  private func dropExpired() {
    let hasSnapshots = !index.snapshots.isEmpty
    for version in expired { drop(version.hash, version.sequence, mayBeNeeded: hasSnapshots) }
    expired.removeAll(keepingCapacity: expired.count < 1000)
  }

  /// - Parameter wasPinned: whether its bytes are counted as what a snapshot needs.
  private func drop(_ hash: UInt64, _ sequence: UInt64, mayBeNeeded: Bool, wasPinned: Bool = false) {
    if mayBeNeeded, let (version, expiredBy) = index.versions.version(hash, sequence: sequence),
      let snapshot = index.snapshots.newest(from: version.sequence, below: expiredBy)
    {
      pinned[snapshot, default: []].append(VersionName(hash: hash, sequence: sequence))
      if !wasPinned { pin(version, 1) }
      return
    }
    guard let (version, mayBeLastOfDeletedRow) = index.versions.remove(hash, sequence: sequence) else { return }
    if wasPinned { pin(version, -1) }
    if version.isTombstone {
      log.segment(ifAnyAt: version.address)?.tombstoneBytes.add(version.bytes, ordering: .relaxed)
    }
    guard mayBeLastOfDeletedRow, let keyspace = index.keyspace(id: version.keyspace) else { return }
    do throws(StoreError) {
      try keyspace.remove(hash)
    } catch {
      // A record cannot be read any more: the row's place in the indexes stays, and reads of it say so.
    }
  }

  private func pin(_ version: VersionTable.Version, _ sign: Int) {
    log.segment(ifAnyAt: version.address)?.pinnedBytes.add(sign * version.bytes, ordering: .relaxed)
  }

  /// Somebody may still see the rows of a dropped keyspace, or nobody any more.
  private func pin(_ keyspace: KeyspaceIndex, _ sign: Int) {
    for (slot, bytes) in keyspace.live.bySlot {
      log.segment(slot: slot).pinnedBytes.add(sign * bytes, ordering: .relaxed)
    }
  }

  // MARK: Checkpoints

  /// The state of the log and of all counts at one sequence, which is held like a snapshot until `endCapture`; nil while
  /// nothing is in the log. From now on new rows are noted.
  func beginCapture(id: UInt32) -> (tables: CheckpointTables, keyspaces: [KeyspaceIndex], covered: Int)? {
    betweenCommits {
      guard let place = log.end else { return nil }
      index.newRows.begin()
      var tables = CheckpointTables(
        features: log.manifest.withLock { $0.features }, store: log.store, hashSeed: index.hash.seed, id: id,
        sequence: index.snapshots.register(index.published),
        place: place, slotShift: index.table.slotShift, slotCount: index.table.slotCount)
      tables.segments = log.segments.withLock { $0 }.map { segment in
        CheckpointTables.Segment(
          id: segment.id, epoch: segment.epoch, slot: segment.slot, end: segment.end.load(ordering: .relaxed),
          lastSequence: segment.lastSequence.load(ordering: .relaxed),
          tombstones: segment.tombstoneBytes.load(ordering: .relaxed))
      }
      let keyspaces = index.allKeyspaces.filter { $0.definedAt.load(ordering: .relaxed) > 0 }
      tables.keyspaces = keyspaces.map { keyspace in
        CheckpointTables.Keyspace(
          id: keyspace.id, rows: keyspace.rowCount.load(ordering: .relaxed), root: 0, directory: [],
          live: keyspace.live.bySlot.map { CheckpointTables.Live(slot: $0.slot, bytes: $0.bytes) },
          oldVersions: keyspace.oldVersions.load(ordering: .relaxed),
          retainedSince: keyspace.retainedSince.load(ordering: .relaxed))
      }
      tables.dictionaries = index.dictionaries.all.compactMap { dictionary in
        guard let keyspace = keyspaces.first(where: { $0.id == dictionary.keyspace }),
          case let segments = log.segmentsUsing(dictionary: dictionary.id),
          keyspace.mayUse(dictionary: dictionary.id) || !segments.isEmpty
        else { return nil }
        return CheckpointTables.Dictionary(
          id: dictionary.id, keyspace: dictionary.keyspace, content: unsafe Array(dictionary.content.bytes),
          segments: segments)
      }
      return (tables, keyspaces, log.writtenBytes)
    }
  }

  func endCapture(_ sequence: UInt64) {
    index.newRows.end()
    release(sequence)
  }

  // MARK: Compaction

  /// The keyspaces whose rows somebody can see, those that have been dropped included. They keep their memory until
  /// `endCompaction`.
  func beginCompaction() -> [KeyspaceIndex] {
    betweenCommits {
      isCompacting = true
      return index.allKeyspaces + droppedKeyspaces
    }
  }

  func endCompaction() {
    betweenCommits {
      isCompacting = false
      clearDropped()
    }
  }

  /// A record in the log: where, and how many bytes.
  struct Span {
    var address: UInt64
    var length: Int
  }

  /// Leads a row, or an older version of it that somebody may read, from a record to its copy. If something has been
  /// committed meanwhile that neither is needed for any more, the copy is dead. Between two commits.
  func move(_ keyspace: KeyspaceIndex, _ hash: UInt64, from old: Span, to new: Span, isPut: Bool) {
    let source = log.segment(old.address)
    let target = log.segment(new.address)
    let isKept: Bool
    if let slot = unsafe keyspace.locator.index.find(hash, { $0 == old.address }) {
      unsafe keyspace.locator.index.replace(slot, new.address)
      guard isPut || index.versions.keptCount(hash) > 0 else { return }
      isKept = true
    } else if let moved = index.versions.move(
      hash, from: old.address, to: new.address, units: UInt32(new.length / Format.unit))
    {
      isKept = moved.isKept
    } else {
      return
    }
    let isDropped = keyspace.droppedAt.load(ordering: .relaxed) != .max
    if isKept {
      keyspace.live.add(-old.length, slot: source.slot)
      keyspace.live.add(new.length, slot: target.slot)
    }
    source.count(-old.length, isPinned: !isKept || isDropped)
    target.count(new.length, isPinned: !isKept || isDropped)
    if !isPut { target.tombstoneBytes.subtract(new.length, ordering: .relaxed) }
  }

  // MARK: Snapshots

  /// A snapshot has ended: what only it needed goes, now or, if a commit is at work, with that.
  func release(_ snapshot: UInt64) {
    guard index.snapshots.release(snapshot), index.versions.count > 0 || hasDropped.load(ordering: .relaxed) else {
      return
    }
    ended.withLock { $0.append(snapshot) }
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    dropEndedSnapshots()
  }

  private func dropEndedSnapshots() {
    while hasEnded.load(ordering: .sequentiallyConsistent) {
      let dropped: Void? = lock.withLockIfAvailable { _ in
        hasEnded.store(false, ordering: .sequentiallyConsistent)
        let snapshots = ended.withLock { ended in
          defer { ended.removeAll() }
          return ended
        }
        for snapshot in snapshots {
          for version in pinned.removeValue(forKey: snapshot) ?? [] {
            drop(version.hash, version.sequence, mayBeNeeded: true, wasPinned: true)
          }
        }
        clearDropped()
      }
      // Whoever holds the lock looks here when it is done.
      if dropped == nil { return }
    }
  }
}
