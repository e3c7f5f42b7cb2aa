/// What only the holder of the commit lock may use: the end of the log, and what the next commits have to clean up.
struct Writer: ~Copyable {
  let index: Index
  let counts: CommitCounts
  var log: LogWriter
  var assembly: FrameAssembly
  var isClosed = false
  /// For each snapshot, the older versions that it needs and no later snapshot does.
  var pinned: [CommitSequence: [VersionName]] = [:]
  /// Versions that expire with the current commit.
  var expired: [VersionName] = []
  /// Dropped keyspaces that still have their memory: an older snapshot may see them, or compaction is in progress.
  var droppedKeyspaces: [KeyspaceIndex] = []
  var isCompacting = false

  struct VersionName {
    let hash: RowHash
    let sequence: CommitSequence
  }

  init(log: Log, index: Index, counts: CommitCounts, recovered: RecoveredLog) {
    self.index = index
    self.counts = counts
    self.log = LogWriter(log, recovered)
    assembly = FrameAssembly(log: log)
  }
}
