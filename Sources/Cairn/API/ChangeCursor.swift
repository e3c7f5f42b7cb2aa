/// Reads the changes of a store, commit by commit.
///
///     var cursor = try store.changes(since: position)
///     while let commit = try cursor.next() {
///       for change in commit.changes { index(change) }
///       position = commit.position
///     }
///
/// A cursor holds nothing between two calls but 16 bytes for each change to come that compaction has moved, and at most
/// a million of those.
public struct ChangeCursor: Sendable {
  let store: Store
  private var scan: ChangeScan

  init(_ store: Store, after sequence: CommitSequence, mostMoved: Int = 1 << 20) {
    self.store = store
    scan = ChangeScan(after: sequence, index: store.index, log: store.log, mostMoved: mostMoved)
  }

  /// Behind the last commit that was returned in whole.
  public var position: ChangePosition { store.position(behind: scan.position) }

  /// The next changes that are durable; nil if there are none at present. There may be some later.
  ///
  /// A row that has changed several times is returned at its last change. Earlier changes may be returned before that:
  /// if the last one is not durable yet, and earlier deletions of a row that is deleted now. Takes time in proportion
  /// to the bytes of the commits since the position. Changes that compaction has moved are sought in all segments that
  /// it has written since; once for each million of them.
  ///
  /// - Throws: `positionExpired` if deletions may be missing from here on; `corrupted`. The cursor stays where it was.
  public mutating func next() throws(StoreError) -> CommittedChanges? {
    try store.index.checkProcess()
    guard let part = try scan.next(upTo: store.visibleDurableSequence) else { return nil }
    return CommittedChanges(
      sequence: part.sequence, changes: part.changes, isComplete: part.isLast, position: position)
  }
}
