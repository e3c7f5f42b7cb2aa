import Synchronization

/// Takes batches one after the other: checks their expectations, gives each its sequence, appends it to the log, enters
/// it into the index, and publishes it. Readers never wait for any of this.
final class Committer: Sendable {
  let log: Log
  let index: Index
  let counts = CommitCounts()
  let writer: Lock<Writer>
  /// Snapshots that have ended and whose versions have not been dropped yet.
  let ended = Lock<[CommitSequence]>([])
  let hasEnded = Atomic<Bool>(false)

  init(log: Log, index: Index, recovered: RecoveredLog) {
    self.log = log
    self.index = index
    writer = Lock(Writer(log: log, index: index, counts: counts, recovered: recovered))
  }

  /// As many attempts to take the lock as outlast what another thread does under it, again and again.
  static let patientAttempts = 8192

  /// Calls `body` between two commits, and then drops what only snapshots that have ended meanwhile needed.
  func betweenCommits<R, E>(_ body: (inout Writer) throws(E) -> R) throws(E) -> R {
    try betweenCommits(attempts: Self.patientAttempts, body)
  }

  @inline(__always)
  private func betweenCommits<R, E>(attempts: Int, _ body: (inout Writer) throws(E) -> R) throws(E) -> R {
    defer { if hasEnded.load(ordering: .sequentiallyConsistent) { dropEndedSnapshots() } }
    return try writer.withLockSoon(attempts: attempts, body)
  }

  /// Refuses commits from now on.
  func close() {
    betweenCommits { $0.isClosed = true }
  }

  /// Closes the log, once no commit is made any more.
  func closeLog(isReadOnly: Bool) throws(StoreError) {
    let (last, active) = betweenCommits { ($0.log.lastSequence, $0.log.active) }
    try log.close(after: last, active, isReadOnly: isReadOnly)
  }

  /// Makes a commit, and returns its sequence; the newest commit's if there is nothing to commit. The commit is in the
  /// log and visible, but not durable; `isSynced` says that the caller will sync it.
  func append<C: Commit>(_ commit: C, isSynced: Bool) throws(StoreError) -> CommitSequence {
    try index.checkProcess()
    return try betweenCommits(attempts: C.lockAttempts) { (writer) throws(StoreError) in
      guard !writer.isClosed else { throw StoreError(.closed, "the store is closed") }
      try log.failure.check()
      guard let needs = try commit.prepare(&writer) else { return index.published.load(ordering: .relaxed) }
      let sequence = try writer.assembly.begin(needs, in: &writer.log)
      try commit.write(sequence, &writer)
      try writer.assembly.finish(isSynced: isSynced, in: &writer.log)
      try publish(commit, sequence, &writer)
      return sequence
    }
  }

  @inline(__always)
  private func publish(
    _ commit: some Commit, _ sequence: CommitSequence, _ writer: inout Writer
  ) throws(StoreError) {
    index.applying.store(sequence, ordering: .sequentiallyConsistent)
    do throws(StoreError) {
      try commit.apply(sequence, &writer)
    } catch {
      // The commit is in the log but must not become visible; reopening decides from the log alone.
      throw log.failure.poison(FileError(.system(0), "update the index (\(error.message)) of", log.directory.path))
    }
    index.published.store(sequence, ordering: .sequentiallyConsistent)
    counts.commits.add(1, ordering: .relaxed)
    commit.finish(sequence, &writer)
  }
}
