import Synchronization

/// When a checkpoint is due.
///
/// A checkpoint is as large as the index, so one is due when the log has grown by one and a half times as much: over a
/// store's life at most one byte of checkpoints is written for each byte of the log, and the remainder pays for a
/// checkpoint when the store is closed.
struct CheckpointSchedule {
  private let index: Index
  private let log: Log
  /// The commit of the newest checkpoint; 0 for none.
  private var sequence: CommitSequence
  /// Bytes of the log up to the newest checkpoint, counted like `LogCounts.writtenBytes`; negative for bytes written
  /// before the store was opened.
  private var covered: Int
  /// Bytes of the log that no byte of a checkpoint has been written for yet, without those written since the store was
  /// opened.
  private var credit: Int

  /// A shorter tail of the log is replayed quickly enough to need no checkpoint.
  private static let shortTail = 2 << 20

  init(index: Index, log: Log, recovery: RecoveryReport) {
    self.index = index
    self.log = log
    sequence = recovery.checkpoint ?? 0
    covered = -recovery.replayedBytes
    credit = recovery.replayedBytes
  }

  /// Whether there are commits that the newest checkpoint does not contain.
  var isOutdated: Bool { index.published.load(ordering: .acquiring) > sequence }

  var isDue: Bool { log.counts.writtenBytes - covered >= interval }

  /// Whether a checkpoint may be written before it is due.
  var isAffordable: Bool { credit + log.counts.writtenBytes >= estimate }

  /// Whether otherwise much would have to be replayed by the next opening.
  var isDueAtTheEnd: Bool {
    let written = log.counts.writtenBytes
    return written > 0 && written - covered >= Self.shortTail && isAffordable
  }

  private var interval: Int { max(log.segmentSize, estimate * 3 / 2) }

  /// The approximate length of a checkpoint: all hash pages, however empty, and as many leaves as the rows need.
  private var estimate: Int {
    index.allKeyspaces.reduce(8192) { length, keyspace in
      let leaves = keyspace.isOrdered ? 8192 + keyspace.rowCount.load(ordering: .relaxed) * 24 : 0
      return length + keyspace.locator.index.pageBytes + leaves
    }
  }

  /// Notes that a checkpoint has been written of the log as it was when `covered` bytes had been written.
  mutating func note(_ checkpoint: Manifest.Checkpoint, covering covered: Int) {
    sequence = checkpoint.sequence
    self.covered = covered
    credit -= checkpoint.length
  }

  /// Notes that no checkpoint is listed any more.
  mutating func noteNone() { sequence = 0 }

  /// Puts the next checkpoint off, because the last attempt failed.
  mutating func postpone() { covered = max(covered, log.counts.writtenBytes - interval / 2) }
}
