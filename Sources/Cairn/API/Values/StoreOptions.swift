/// How a store is opened.
public struct StoreOptions: Sendable {
  /// What the store is opened for.
  public enum Access: Sendable {
    /// Reading and writing; one process at a time.
    case readWrite
    /// Reading the state at the time of opening, without a lock, beside a writer and any number of other readers.
    case readOnly
  }

  /// Reading and writing unless set otherwise.
  public var access = Access.readWrite
  /// Whether a store is created if there is none. Ignored when opening for reading.
  public var createsIfMissing = true
  /// Full size of a segment in bytes, for a store that is created. 64 KiB to 1 GiB; 64 MiB unless set otherwise.
  public var segmentSize = 64 << 20
  /// Permissions of the files of a store that is created, as `chmod` takes them. The directory, if it is created too,
  /// can be searched by whoever may read the files. Files added later get the permissions that the manifest then has.
  public var filePermissions: UInt16 = 0o600
  /// Whether values are compressed where that pays.
  public var compresses = true
  /// Whether values of a keyspace that are alike are compressed with a dictionary trained from them; the store trains
  /// it in the background. Needs ``compresses``.
  public var trainsDictionaries = true
  /// Bytes of values that must have been put before the first attempt at a dictionary.
  package var firstTraining = 1 << 17
  /// Whether checkpoints are written: the index is written to disk in the background as the log grows, and when the
  /// store is closed, so that opening need not read the whole log. A checkpoint that keeps the log longer than
  /// ``compacts`` promises is replaced by a newer one, or given up if none may be written: if this is false, or if
  /// more bytes of checkpoints than of the log would be written.
  public var writesCheckpoints = true
  /// Whether unneeded space is freed in the background as the log grows: the log is kept below 1.3 times its needed
  /// bytes plus four segments. Writers that make the log longer faster than compaction makes it shorter are slowed
  /// down, each a little after its commit. A row that is put and deleted again while a snapshot is held leaves a
  /// tombstone until the snapshot ends.
  public var compacts = true
  /// The segment size by which compaction decides how much too long the log may be and which segments it joins, in
  /// bytes; nil for ``segmentSize``.
  package var compactionSize: Int?
  /// Opens the store as it was after this commit, or after the last one before it: to go back to the state before a
  /// mistake or before damage. Opened for reading, the store does not change. Opened for writing, the first write,
  /// compaction or backup makes that state the store's; the bytes after it are saved in separate files, which the
  /// recovery report names. nil for the newest state.
  public var upTo: CommitSequence?
  /// Called now and then, on the thread that opens the store, while the log is read, which takes long only without a
  /// recent checkpoint. If it returns false, opening ends with `cancelled`.
  public var recoveryProgress: (@Sendable (RecoveryProgress) -> Bool)?

  /// The defaults.
  public init() {}

  /// Whether a store that is open with these options can be returned to a caller who asks for others: all options are
  /// the same, except those about creating or finding a store.
  func serves(_ others: StoreOptions) -> Bool {
    compresses == others.compresses && trainsDictionaries == others.trainsDictionaries
      && firstTraining == others.firstTraining
      && writesCheckpoints == others.writesCheckpoints && compacts == others.compacts
      && compactionSize == others.compactionSize && upTo == others.upTo
  }
}
