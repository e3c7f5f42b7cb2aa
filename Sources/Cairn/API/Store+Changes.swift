import Synchronization

/// Reading what has changed.
///
/// A reader begins with the rows of a ``Snapshot`` and its ``Snapshot/position()``, and reads on from there. Every row
/// that has changed since is returned at least once in its newest state, in the order of the commits. Compaction
/// removes deletions in time; a reader that is added by name is sure to get all of them, unless it falls too far
/// behind.
extension Store {
  /// A cursor over the changes since a position. What has been committed so far is made durable first.
  ///
  /// - Throws: `replaced` if the position is of another store, or from before the store was taken back to an earlier
  ///   commit; `positionExpired` if deletions may be missing since then; `readOnly`, `poisoned`, `closed`.
  public func changes(since position: ChangePosition) throws(StoreError) -> ChangeCursor {
    try checkWritable()
    try check(position)
    try sync()
    return ChangeCursor(self, after: position.sequence)
  }

  /// The changes since a position, and those to come. See ``changes(since:)``.
  public func changeFeed(since position: ChangePosition) throws(StoreError) -> ChangeFeed {
    ChangeFeed(try changes(since: position))
  }

  // MARK: Readers with names

  /// Keeps deletions in the log for a reader of changes, from its position on, until it acknowledges them or is
  /// removed, or the store is taken back to an earlier commit. The reader is durable on return. One of the same name is
  /// replaced.
  ///
  /// - Parameters:
  ///   - name: 1 to 65,535 bytes of UTF-8.
  ///   - position: where the reader reads on.
  ///   - mostBytes: the log keeps nothing any more for the reader when the deletions in the segments that it has not
  ///     read to their ends take more bytes.
  ///   - longestTime: and when the reader has something to read and has not acknowledged anything for this long.
  /// - Throws: `replaced`, `positionExpired`, as ``changes(since:)`` does; `invalidArgument` for a name that is empty
  ///   or too long, a negative limit, or more than 100 readers; `noSpace`, `inputOutput`, `readOnly`, `poisoned`,
  ///   `closed`.
  public func addChangeReader(
    _ name: String, since position: ChangePosition, mostBytes: Int = 1 << 30,
    longestTime: Duration = .seconds(7 * 86_400)
  ) throws(StoreError) {
    try checkWritable()
    try check(position)
    guard !name.isEmpty, name.utf8.count <= Int(UInt16.max) else {
      throw StoreError(.invalidArgument, "a reader's name must have 1 to 65,535 bytes, not \(name.utf8.count)")
    }
    guard mostBytes >= 0, longestTime >= .zero else {
      throw StoreError(.invalidArgument, "a reader's limits must not be negative")
    }
    let (seconds, attoseconds) = longestTime.components
    let (nanoseconds, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let reader = Manifest.ChangeReader(
      name: name, sequence: position.sequence, heard: environment.clock(), mostBytes: mostBytes,
      longestTime: overflow ? .max : nanoseconds &+ UInt64(attoseconds / 1_000_000_000))
    try betweenJobs { () throws(StoreError) in try log.manifest.enter(reader) }
  }

  /// Notes that a reader has dealt with all changes up to a position, so that the log may forget their deletions. Takes
  /// a microsecond: it is written to disk some time later, at the latest when the store is closed. After a crash the
  /// reader may find the same changes once more.
  ///
  /// - Throws: `notFound` if there is no reader of that name; `replaced`; `positionExpired` if the reader had fallen
  ///   too far behind, and deletions may be missing since; `readOnly`, `closed`.
  public func acknowledge(_ position: ChangePosition, by name: String) throws(StoreError) {
    try checkWritable()
    try checkBelongs(position)
    let found = log.manifest.acknowledge(position.sequence, by: name, at: environment.clock())
    guard var reader = found else { throw noReader(name) }
    guard !reader.isHeld else { return }
    reader.isHeld = true
    try betweenJobs { [reader] () throws(StoreError) in try log.manifest.enter(reader) }
  }

  /// Keeps nothing for a reader of changes any more. Durable on return.
  ///
  /// - Throws: `notFound` if there is no reader of that name; `noSpace`, `inputOutput`, `readOnly`, `poisoned`,
  ///   `closed`.
  public func removeChangeReader(_ name: String) throws(StoreError) {
    try checkWritable()
    guard try betweenJobs({ () throws(StoreError) in try log.manifest.removeChangeReader(name) }) else {
      throw noReader(name)
    }
  }

  /// The readers of changes for whom the log keeps deletions, in the order of their names. Takes time in proportion to
  /// the number of segments.
  public var changeReaders: [ChangeReader] {
    guard index.isOfThisProcess else { return [] }
    return log.manifest.changes.readers.withLock { $0 }.map { reader in
      ChangeReader(
        name: reader.name, position: position(behind: reader.sequence), isHeld: reader.isHeld,
        heldBytes: log.tombstoneBytes(after: reader.sequence), mostBytes: reader.mostBytes,
        longestTime: .nanoseconds(Int64(clamping: reader.longestTime)))
    }
  }

  private func noReader(_ name: String) -> StoreError {
    StoreError(.notFound, "there is no reader of changes named \(name)")
  }

  // MARK: Positions

  package func position(behind sequence: CommitSequence) -> ChangePosition {
    ChangePosition(
      store: log.store, timeline: log.manifest.changes.timeline.load(ordering: .acquiring), sequence: sequence)
  }

  private func check(_ position: ChangePosition) throws(StoreError) {
    try checkBelongs(position)
    guard position.sequence >= log.manifest.changes.forgotten.load(ordering: .acquiring) else {
      throw StoreError.positionExpired(position.sequence)
    }
  }

  private func checkBelongs(_ position: ChangePosition) throws(StoreError) {
    guard position.store == log.store else {
      throw StoreError(.replaced, "the position belongs to another store; start again from a snapshot")
    }
    guard position.timeline == log.manifest.changes.timeline.load(ordering: .acquiring),
      position.sequence <= lastSequence
    else {
      throw StoreError(
        .replaced, "the store was taken back to an earlier commit after this position; start again from a snapshot")
    }
  }
}

extension Snapshot {
  /// The position behind the newest commit that the snapshot sees: a reader that has read the rows of the snapshot
  /// reads on from there. Makes that commit durable first.
  ///
  /// - Throws: `poisoned`; `closed` if the store was closed before the commit was durable; `readOnly`.
  public func position() throws(StoreError) -> ChangePosition { try committer.position(behind: sequence) }
}

extension Committer {
  fileprivate func position(behind sequence: CommitSequence) throws(StoreError) -> ChangePosition {
    try index.checkProcess()
    try log.syncs.sync(upTo: sequence)
    return ChangePosition(
      store: log.store, timeline: log.manifest.changes.timeline.load(ordering: .acquiring), sequence: sequence)
  }
}
