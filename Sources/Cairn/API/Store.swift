import Synchronization

/// An embedded key-value store: a log of records in a directory, with an index in memory.
///
/// All methods may be called from any thread, but only in this process: in a process forked from it they throw
/// `forked`, and those that cannot throw return an empty or neutral result. Reads do not wait. Writes run one after
/// another; those that ask to be durable at the same time share one sync. One process at a time can have a store open
/// for writing, any number for reading.
public final class Store: Sendable {
  /// What opening found and did.
  public let recovery: RecoveryReport
  /// The path of the directory, as it was given.
  public let path: String
  let options: StoreOptions
  let environment: Environment
  let index: Index
  let log: Log
  let committer: Committer
  private let commits: Commits
  let maintenance: Maintenance
  private let dictionaries: Dictionaries
  package let isReadOnly: Bool
  private let isCompressing: Bool
  private let fileLock: (any FileLock)?
  private let whenClosed: @Sendable (Store) -> Void
  private let buffers = Lock<[BatchBuffer]>([])
  private let closed = Atomic<Bool>(false)
  /// What ``refresh()`` leaves behind. Its lock is held during a refresh, and while the files are being closed.
  let departed = Lock(DepartedSegments())

  init(
    path: String, options: StoreOptions, environment: Environment, index: Index, log: Log, recovered: RecoveredLog,
    recovery: RecoveryReport, lock: (any FileLock)?, whenClosed: @escaping @Sendable (Store) -> Void
  ) {
    self.path = path
    self.options = options
    self.environment = environment
    self.index = index
    self.log = log
    self.recovery = recovery
    fileLock = lock
    self.whenClosed = whenClosed
    isReadOnly = options.access == .readOnly
    isCompressing = options.compresses
    committer = Committer(log: log, index: index, recovered: recovered)
    let maintenance = Maintenance(index: index, log: log, committer: committer, recovery: recovery, options: options)
    self.maintenance = maintenance
    commits = Commits(
      committer: committer, log: log, scheduler: environment.scheduler, makeSpace: maintenance.makeSpace)
    dictionaries = Dictionaries(
      index: index, committer: committer, scheduler: environment.scheduler, options: options,
      segmentSize: log.segmentSize)
  }

  // MARK: Closing

  deinit {
    // To learn whether all is durable, close the store explicitly.
    do throws(StoreError) { try close() } catch {}
  }

  /// Ends writing, makes buffered commits durable, and releases the lock. Acknowledged commits survive without this
  /// call too. Closing twice does no harm. Reading still works afterwards, writing throws `closed`.
  ///
  /// - Throws: `poisoned` if buffered commits could not be made durable. The store is closed all the same, and those
  ///   commits survive the end of the process as before; a loss of power may take them. `inputOutput` or `noSpace` if
  ///   all commits are durable, but that could not be recorded. The store is closed then, too.
  public func close() throws(StoreError) {
    // A forked child only has a copy of the store, and its `fork` handler has released that already.
    guard index.isOfThisProcess, !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    committer.close()
    commits.close()
    dictionaries.close()
    environment.scheduler.shutDown()
    maintenance.close()
    // Otherwise readers find some changes once more, and the next opening needs a descriptor for each of the segments
    // that were sealed last.
    if !isPoisoned { do throws(StoreError) { try log.manifest.writeChanges() } catch {} }
    defer {
      fileLock?.release()
      departed.withLock { _ in log.directory.close() }
      whenClosed(self)
      log.telemetry.finish()
    }
    try committer.closeLog(isReadOnly: isReadOnly)
  }

  /// In a forked child: closes its copy of the lock, which stays with the process that has the store open.
  func abandon() { fileLock?.abandon() }

  var isOfThisProcess: Bool { index.isOfThisProcess }

  var isClosed: Bool { closed.load(ordering: .acquiring) }

  // MARK: Keyspaces

  /// The keyspace with a name. A new one becomes part of the store with its first write; until then it takes less than
  /// 1 KiB of memory.
  ///
  /// - Parameters:
  ///   - name: 1 to 65,535 bytes of UTF-8.
  ///   - order: the order that it was created with, or is to have.
  /// - Throws: `orderMismatch` if the keyspace exists with the other order; `invalidArgument` for a name that is
  ///   empty or too long; `tooManyKeyspaces` beyond 100,000 keyspaces, 64 MiB of names, or 2³¹ keyspaces with those
  ///   dropped.
  public func keyspace(_ name: String, order: Keyspace.Order = .ordered) throws(StoreError) -> Keyspace {
    try index.checkProcess()
    guard !name.isEmpty, name.utf8.count <= Int(UInt16.max) else {
      throw StoreError(.invalidArgument, "a keyspace's name must have 1 to 65,535 bytes, not \(name.utf8.count)")
    }
    let keyspace = try index.keyspace(named: name, isOrdered: order == .ordered)
    guard keyspace.isOrdered == (order == .ordered) else {
      throw StoreError(.orderMismatch, "keyspace \(name) is \(keyspace.isOrdered ? "ordered" : "unordered")")
    }
    return Keyspace(store: self, index: keyspace)
  }

  /// The keyspaces that have been written to, in order of their ids.
  public var keyspaces: [Keyspace] {
    guard index.isOfThisProcess else { return [] }
    return index.allKeyspaces.filter { $0.definedAt.load(ordering: .acquiring) > 0 }
      .map { Keyspace(store: self, index: $0) }
  }

  @discardableResult
  package func drop(_ keyspace: Keyspace, _ durability: Durability = .durable) throws(StoreError) -> CommitSequence {
    try checkWritable()
    try keyspace.checkBelongs(to: index)
    defer { maintenance.check() }
    return try commits.make(KeyspaceDrop(keyspace: keyspace.index), durability)
  }

  @discardableResult
  package func setRetention(
    _ retention: Retention, of keyspace: Keyspace, _ durability: Durability = .durable
  ) throws(StoreError) -> CommitSequence {
    try checkWritable()
    try keyspace.checkBelongs(to: index)
    guard (1...Retention.maximumCount).contains(retention.count) else {
      throw StoreError(
        .invalidArgument,
        "a keyspace must keep 1 to \(Retention.maximumCount) versions of a row, not \(retention.count)")
    }
    defer { maintenance.check() }
    return try commits.make(
      RetentionChange(keyspace: keyspace.index, oldVersions: UInt32(retention.count - 1)), durability)
  }

  // MARK: Writing

  /// Commits a batch of changes, all together or none.
  ///
  /// - Parameters:
  ///   - durability: how durable the commit is when the call returns.
  ///   - body: puts the changes into the batch. If it throws, nothing is changed.
  /// - Returns: what `body` has returned, and the sequence of the commit, which is that of every row that the batch has
  ///   put. A batch that changes nothing takes no sequence.
  /// - Throws: `conflict` if an expectation does not hold; `noSpace`, after which nothing is changed; `poisoned`, after
  ///   which the store has to be reopened; `closed`, `readOnly`, `batchTooLarge`, `keyspaceDropped`; and whatever
  ///   `body` throws.
  @discardableResult
  public func write<Result>(
    durability: Durability = .durable, _ body: (inout Batch) throws -> Result
  ) throws -> (result: Result, sequence: CommitSequence) {
    let buffer = try buffer()
    defer { recycle(buffer) }
    var batch = Batch(buffer, owner: index.number, isCompressing: isCompressing)
    let result = try body(&batch)
    if let failure = batch.failure { throw failure }
    defer {
      hasWritten()
      maintenance.pace.wait()
    }
    let start = log.telemetry.begin()
    defer { log.telemetry.end(.commit, since: start) }
    return (result, try commits.make(buffer, durability))
  }

  /// Commits a batch of changes, all together or none, as the method with a result does.
  ///
  /// - Returns: the sequence of the commit.
  @discardableResult
  public func write(
    durability: Durability = .durable, _ body: (inout Batch) throws -> Void
  ) throws -> CommitSequence {
    let (_, sequence): (Void, CommitSequence) = try write(durability: durability, body)
    return sequence
  }

  @inline(__always)
  func checkWritable() throws(StoreError) {
    try index.checkProcess()
    guard !isReadOnly else { throw StoreError(.readOnly, "the store was opened for reading") }
  }

  @inline(__always)
  private func hasWritten() {
    guard index.isOfThisProcess else { return }
    maintenance.checkIfDue()
    dictionaries.valuesWerePut()
  }

  /// Commits a batch of changes as ``write(durability:_:)-(_,(Batch)->Result)`` does, without blocking the calling
  /// thread on input or output; `body` runs before the first suspension.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before the commit is written to the log, and nothing is
  ///   changed then; a later cancellation has no effect. Otherwise the errors of `write`.
  @discardableResult
  public func submit<Result>(
    durability: Durability = .durable, _ body: (inout Batch) throws -> Result
  ) async throws -> (result: Result, sequence: CommitSequence) {
    try Task.checkCancellation()
    let buffer = try buffer()
    defer { recycle(buffer) }
    var batch = Batch(buffer, owner: index.number, isCompressing: isCompressing)
    let result = try body(&batch)
    if let failure = batch.failure { throw failure }
    defer { hasWritten() }
    let sequence = try await submit(buffer, durability)
    await maintenance.pace.wait()
    return (result, sequence)
  }

  private func submit(_ buffer: BatchBuffer, _ durability: Durability) async throws -> CommitSequence {
    let start = log.telemetry.begin()
    defer { log.telemetry.end(.commit, since: start) }
    return try await commits.submit(buffer, durability)
  }

  /// Commits a batch of changes as the method with a result does.
  ///
  /// - Returns: the sequence of the commit.
  @discardableResult
  public func submit(
    durability: Durability = .durable, _ body: (inout Batch) throws -> Void
  ) async throws -> CommitSequence {
    let (_, sequence): (Void, CommitSequence) = try await submit(durability: durability, body)
    return sequence
  }

  /// Makes the state in which the store was opened its newest one, as the first write does: the bytes after the commit
  /// that ``StoreOptions/upTo`` names are saved in separate files. Durable on return.
  package func beginWriting() throws(StoreError) {
    try checkWritable()
    try committer.betweenCommits { (writer) throws(StoreError) in _ = try writer.log.currentEpoch() }
  }

  @discardableResult
  package func put(
    _ value: [UInt8], at key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything,
    _ durability: Durability = .durable
  ) throws(StoreError) -> CommitSequence {
    try change(durability) { (batch) throws(StoreError) in
      try batch.put(value, at: key, in: keyspace, expecting: expectation)
    }
  }

  @usableFromInline
  func put(
    _ value: RawSpan, at key: Key, in keyspace: Keyspace, expecting expectation: Expectation, _ durability: Durability
  ) throws(StoreError) -> CommitSequence {
    try change(durability) { (batch) throws(StoreError) in
      try batch.put(value, at: key, in: keyspace, expecting: expectation)
    }
  }

  @discardableResult
  @usableFromInline
  package func delete(
    _ key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything,
    _ durability: Durability = .durable
  ) throws(StoreError) -> CommitSequence {
    try change(durability) { (batch) throws(StoreError) in
      try batch.delete(key, in: keyspace, expecting: expectation)
    }
  }

  private func change(
    _ durability: Durability, _ body: (inout Batch) throws(StoreError) -> Void
  ) throws(StoreError) -> CommitSequence {
    let buffer = try buffer()
    defer { recycle(buffer) }
    var batch = Batch(buffer, owner: index.number, isCompressing: isCompressing)
    try body(&batch)
    defer {
      hasWritten()
      maintenance.pace.wait()
    }
    let start = log.telemetry.begin()
    defer { log.telemetry.end(.commit, since: start) }
    return try commits.make(buffer, durability)
  }

  private func buffer() throws(StoreError) -> BatchBuffer {
    try checkWritable()
    return buffers.withLock { $0.popLast() } ?? BatchBuffer()
  }

  private func recycle(_ buffer: BatchBuffer) {
    guard index.isOfThisProcess, buffer.isSmall else { return }
    buffer.reset()
    buffers.withLock { if $0.count < 16 { $0.append(buffer) } }
  }

  /// Returns once everything committed so far is durable. Has no effect in a store opened for reading.
  /// - Throws: `poisoned` if it cannot be made durable.
  public func sync() throws(StoreError) {
    try index.checkProcess()
    guard !isReadOnly else { return }
    try log.syncs.sync(upTo: lastSequence)
  }

  /// Returns once a commit and all before it are durable, without blocking the calling thread: for a caller who has
  /// made a `buffered` commit and wants to acknowledge it later.
  /// - Throws: `poisoned` if it cannot be made durable; `commitNotFound` for a sequence that no commit has yet;
  ///   `closed`; `readOnly` if the store was opened for reading and the commit is not known to be durable.
  public func waitUntilDurable(_ sequence: CommitSequence) async throws(StoreError) {
    try index.checkProcess()
    guard sequence > durableSequence else { return }
    guard sequence <= lastSequence else {
      throw StoreError(.commitNotFound, "there is no commit \(sequence) yet; the newest is \(lastSequence)")
    }
    // The writer alone can sync the log: a reader has closed most of its files.
    try checkWritable()
    try await commits.sync(upTo: sequence)
  }

  /// The newest commit known to be durable: it and all before it survive a loss of power.
  public var durableSequence: CommitSequence {
    // A sync may cover a commit that is in the log but not visible yet.
    let durable = log.syncs.durable.sequence
    return min(durable, lastSequence)
  }

  /// The newest durable commit, once it is visible.
  var visibleDurableSequence: CommitSequence {
    let durable = log.syncs.durable.sequence
    // Whoever has appended it publishes it before the next commit is made.
    if durable > lastSequence { committer.betweenCommits { _ in } }
    return min(durable, lastSequence)
  }

  /// The newest commit.
  public var lastSequence: CommitSequence { index.published.load(ordering: .acquiring) }

  // MARK: Checkpoints

  /// Writes a checkpoint, that is the present index, to disk, so that opening need not read the log up to here; returns
  /// when the checkpoint is durable.
  ///
  /// Happens in the background as the log grows, unless ``StoreOptions/writesCheckpoints`` is false, and at `close()`.
  /// Readers and writers are not blocked. Takes time in proportion to the number of rows; none if nothing has been
  /// committed since the last checkpoint. A store opened with ``StoreOptions/upTo`` keeps the checkpoints of later
  /// commits until the first write, and writes none beside them.
  ///
  /// - Throws: `noSpace`, `inputOutput`, after which nothing has changed; `poisoned`, `closed`, `readOnly`.
  public func checkpoint() throws(StoreError) {
    try checkWritable()
    try maintenance.checkpoint()
  }

  // MARK: Compaction

  /// Frees space: copies the needed records of segments that also hold others to new segments, and removes the old
  /// ones.
  ///
  /// Happens in the background as the log grows, unless ``StoreOptions/compacts`` is false. Readers and writers are
  /// not blocked. Takes time in proportion to the bytes of the segments that are compacted, and free space for at most
  /// two segments, or for the needed bytes of the largest commit if those are more. Rows that one call has copied
  /// together are in key order on disk afterwards. After a compaction of what is worthwhile, tombstones take at most a
  /// hundredth of the log, except those that a snapshot or a retention needs.
  ///
  /// - Parameters:
  ///   - extent: whether segments without anything to gain are rewritten as well.
  ///   - progress: called now and then on the calling thread; if it returns false, compaction ends with `cancelled`,
  ///     and the space freed by then stays free. It must not write to the store, call for its maintenance or close it:
  ///     that would wait for this call.
  /// - Returns: what was done, or why nothing was.
  /// - Throws: `noSpace`, `noMemory`, `inputOutput`, `cancelled`, after which nothing is lost; `poisoned`, `closed`,
  ///   `readOnly`.
  @discardableResult
  public func compact(
    _ extent: CompactionExtent = .worthwhile, progress: ((CompactionProgress) -> Bool)? = nil
  ) throws(StoreError) -> CompactionReport {
    try checkWritable()
    return try RequestedCompaction(maintenance, extent, progress).run()
  }

  /// Stops compaction in the background until ``resumeCompaction()``. A compaction that is copying is given up, and
  /// begins again then; checkpoints continue. The log may grow beyond its bound meanwhile. Waits until a
  /// ``compact(_:progress:)`` of another thread is done with its present segments.
  public func pauseCompaction() { if index.isOfThisProcess { maintenance.pause() } }

  func betweenJobs<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try maintenance.betweenJobs(body)
  }

  /// Resumes compaction in the background.
  public func resumeCompaction() { if index.isOfThisProcess { maintenance.resume() } }

  // MARK: Reading the latest state

  /// Distinguishes the store from all others; a copy of its files has the same identity.
  package var identity: UInt128 { log.store }

  /// Whether a failure has ended writing.
  package var isPoisoned: Bool { log.failure.isThere }

  /// - Throws: `poisoned` if a failure has ended writing.
  package func checkHealth() throws(StoreError) { try log.failure.check() }

  @usableFromInline
  package func get(_ key: Key, in keyspace: Keyspace) throws(StoreError) -> [UInt8]? {
    try withRecord(key, keyspace) { (record) throws(StoreError) in try record.copiedValue(index.dictionaries) }
  }

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

  @usableFromInline
  package func contains(_ key: Key, in keyspace: Keyspace) throws(StoreError) -> Bool {
    try withRecord(key, keyspace) { _ in true } ?? false
  }

  package func history(of key: Key, in keyspace: Keyspace) throws(StoreError) -> [RowVersion] {
    try keyspace.history(of: key)
  }

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
    try unsafe key.withEncoded { (encoded) throws in try unsafe read(encoded: encoded, keyspace, body) }
  }

  @usableFromInline
  func read(
    bytes key: RawSpan, _ keyspace: Keyspace, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try unsafe Key.withEncoded(bytes: key) { (encoded) throws in try unsafe read(encoded: encoded, keyspace, body) }
  }

  @inline(__always)
  private func read(
    encoded key: UnsafeRawBufferPointer, _ keyspace: Keyspace, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try keyspace.checkBelongs(to: index)
    let start = log.telemetry.begin()
    defer { log.telemetry.end(.get, since: start) }
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    guard index.hasNow(keyspace.index) else {
      return try unsafe readDefined(key, keyspace, body)
    }
    try unsafe index.latest(keyspace.index, keyspace.index.hash(key), key)?.withValue(index.dictionaries, body)
  }

  @inline(never)
  private func readDefined(
    _ key: UnsafeRawBufferPointer, _ keyspace: Keyspace, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    if let defined = keyspace.defined { try unsafe read(encoded: key, defined, body) }
  }

  private func withRecord<R>(
    _ key: Key, _ keyspace: Keyspace, _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    try keyspace.checkBelongs(to: index)
    let start = log.telemetry.begin()
    defer { log.telemetry.end(.get, since: start) }
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    guard index.hasNow(keyspace.index) else {
      guard let defined = keyspace.defined else { return nil }
      return try withRecord(key, defined, body)
    }
    return try unsafe key.withEncoded { (encoded) throws(StoreError) -> R? in
      let hash = unsafe keyspace.index.hash(encoded)
      guard let record = try unsafe index.latest(keyspace.index, hash, encoded) else { return nil }
      return try body(record)
    }
  }

  // MARK: Reading more than one row

  /// A snapshot of the latest state.
  public func snapshot() -> Snapshot { Snapshot(index: index, committer: committer, maintenance: maintenance) }

  /// Calls `body` with a snapshot that ends when it returns: for reads of several rows, or of several keyspaces, that
  /// have to be of one moment.
  public func read<R>(_ body: (Snapshot) throws -> R) rethrows -> R {
    let snapshot = snapshot()
    defer { snapshot.close() }
    return try body(snapshot)
  }

  // MARK: Figures

  /// Figures about the store at present. Takes time in proportion to the number of segments.
  public var statistics: StoreStatistics {
    var statistics = StoreStatistics()
    guard index.isOfThisProcess else { return statistics }
    for segment in log.segments.withLock({ $0 }) {
      statistics.segments += 1
      statistics.logBytes += segment.end.load(ordering: .acquiring)
      statistics.liveBytes += segment.liveBytes.load(ordering: .relaxed)
      statistics.pinnedBytes += segment.pinnedBytes.load(ordering: .relaxed)
      statistics.pinnedBytes += segment.heldTombstoneBytes.load(ordering: .relaxed)
      statistics.tombstoneBytes += segment.looseTombstoneBytes
      if segment.isQuarantined.load(ordering: .relaxed) { statistics.damagedSegments += 1 }
    }
    statistics.checkpointBytes = log.counts.checkpointBytes.load(ordering: .relaxed)
    statistics.reservedBytes = log.reserve.bytes.load(ordering: .relaxed)
    for keyspace in index.allKeyspaces where keyspace.definedAt.load(ordering: .acquiring) > 0 {
      statistics.keyspaces += 1
      statistics.rows += keyspace.rowCount.load(ordering: .relaxed)
    }
    statistics.changeReaders = changeReaders
    statistics.retiredBytes = log.counts.retiredBytes.load(ordering: .relaxed)
    statistics.appendedBytes = log.counts.appendedBytes.load(ordering: .relaxed)
    statistics.compactedBytes = log.counts.compactedBytes.load(ordering: .relaxed)
    let keyspaces = Set(index.allKeyspaces.map(\.id))
    for dictionary in index.dictionaries.all where keyspaces.contains(dictionary.keyspace) {
      statistics.dictionaries += 1
      statistics.dictionaryBytes += unsafe dictionary.content.bytes.count
    }
    statistics.indexBytes = index.bytes
    statistics.olderVersions = index.versions.count
    statistics.snapshots = index.heldSnapshots.load(ordering: .relaxed)
    statistics.rawValueBytes = committer.counts.rawBytes.load(ordering: .relaxed)
    statistics.storedValueBytes = committer.counts.storedBytes.load(ordering: .relaxed)
    statistics.commits = committer.counts.commits.load(ordering: .relaxed)
    statistics.syncs = log.counts.syncs.load(ordering: .relaxed)
    statistics.durableSequence = durableSequence
    statistics.lastSequence = lastSequence
    return statistics
  }

  /// Figures about each segment, in order of their ids.
  package var segmentStatistics: [SegmentStatistics] {
    log.segments.withLock { $0 }.map { segment in
      SegmentStatistics(
        id: segment.id, end: segment.end.load(ordering: .acquiring),
        liveBytes: segment.liveBytes.load(ordering: .relaxed),
        pinnedBytes: segment.pinnedBytes.load(ordering: .relaxed)
          + segment.heldTombstoneBytes.load(ordering: .relaxed),
        tombstoneBytes: segment.looseTombstoneBytes,
        overhead: segment.overhead.load(ordering: .relaxed))
    }.sorted { $0.id < $1.id }
  }
}
