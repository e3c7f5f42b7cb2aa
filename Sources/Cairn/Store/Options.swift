/// How a store is opened.
public struct StoreOptions: Sendable {
  /// What the store is opened for.
  public enum Access: Sendable {
    /// Reading and writing; one process at a time.
    case readWrite
    /// Reading what is there at the time of opening, without a lock, beside a writer or any number of other readers.
    case readOnly
  }

  /// Reading and writing unless set otherwise.
  public var access = Access.readWrite
  /// Whether a store is made where there is none. Never when opening for reading.
  public var createIfMissing = true
  /// Full size of a segment in bytes, for a store about to be made. 64 KiB to 1 GiB; 64 MiB unless set otherwise.
  public var segmentSize = 64 << 20
  /// Who may read and write the files of a store about to be made, as `chmod` takes it; the directory, if it is made too, can
  /// be searched by who may read the files. Files that are added later have the permissions of the manifest by then.
  public var filePermissions: UInt16 = 0o600
  /// Whether values are compressed where that pays.
  public var compression = true
  /// Whether values of a keyspace that are alike are compressed with a dictionary trained from them, which the store does
  /// by itself in the background. Needs ``compression``.
  public var dictionaries = true
  /// Bytes of values that make a first attempt at a dictionary worth it.
  package var firstTraining = 1 << 17
  /// Whether the index is written to disk in the background as the log grows, and when the store is closed, so that
  /// opening need not read the whole log. One that keeps the log longer than ``compaction`` promises is renewed, or given
  /// up where that may not be: if this is false, or would write more bytes of checkpoints than of the log.
  public var checkpoints = true
  /// Whether space that is not needed is given back in the background as the log grows: the log is kept below 1.3 times
  /// what is needed of it and four segments. Writers that make it longer faster than that goes are slowed down, each a
  /// little behind its commit. What is put and deleted again under a snapshot leaves a deletion until the snapshot ends.
  public var compaction = true
  /// What compaction takes for the full size of a segment: how much too long the log may be, and what goes together; nil
  /// for ``segmentSize``.
  package var compactionSize: Int?
  /// Opens the store as it was after this commit, or the last before it: for going back behind a mistake or to before
  /// damage. Opened for reading, nothing changes. Opened for writing, the first write or compaction makes that the
  /// state of the store; what lay behind is kept aside, as the recovery report says. nil for all there is.
  public var upTo: UInt64?
  /// Called now and then while the log is read, which takes long only where there is no fresh checkpoint; opening ends
  /// with `cancelled` if it returns false. On the thread that opens the store.
  public var recoveryProgress: (@Sendable (RecoveryProgress) -> Bool)?

  /// The defaults.
  public init() {}

  /// Whether a store that is open with these is what somebody asks for with others: all but what is about making a store,
  /// or about finding it, is the same.
  func serves(_ others: StoreOptions) -> Bool {
    compression == others.compression && dictionaries == others.dictionaries && firstTraining == others.firstTraining
      && checkpoints == others.checkpoints && compaction == others.compaction
      && compactionSize == others.compactionSize && upTo == others.upTo
  }
}

/// How durable a commit is when the call that made it returns.
public enum Durability: Sendable, Hashable {
  /// It survives the loss of power. Commits at the same time share one sync.
  case durable
  /// It survives the end of the process. A loss of power may take it, with every commit after it; never one before it
  /// alone.
  case buffered
}
