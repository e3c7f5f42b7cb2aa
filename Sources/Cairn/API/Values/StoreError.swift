/// Why the store refused an operation or failed: the kind of failure, a message, and the place.
///
/// None of these errors loses data that was acknowledged. Compare ``code``; the set of codes may grow.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of a failure.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// In words.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Another process has the store open for writing, or this process is opening it and would wait for itself.
    public static let locked = Code("locked")
    /// A newer version of Cairn wrote the store.
    public static let newerFormat = Code("newer format")
    /// Something the store cannot do without, such as its manifest or a whole segment, is missing or invalid.
    public static let damaged = Code("damaged")
    /// There is something at the path, but it isn't a store.
    public static let notAStore = Code("not a store")
    /// There is a backup at the path, which can only be opened for reading; ``Store/restore(from:to:at:progress:)``
    /// makes a store of it.
    public static let backup = Code("backup")
    /// There is something at the path where a new store or a backup was to be made.
    public static let alreadyExists = Code("already exists")
    /// There is nothing at the path, and no store was to be created.
    public static let notFound = Code("not found")
    /// The file system denies this process access.
    public static let noPermission = Code("no permission")
    /// An expectation of a batch didn't hold; ``StoreError/conflicts`` lists every one. Nothing was changed.
    public static let conflict = Code("conflict")
    /// Bytes that were durable have changed since; ``StoreError/place`` says where.
    public static let corrupted = Code("corrupted")
    /// The file system is full. Nothing was changed; writing works again once there is space.
    public static let noSpace = Code("no space")
    /// The process or the system has as many files open as it is allowed. Nothing was changed.
    public static let noDescriptors = Code("no descriptors")
    /// The system gives the process no more memory. Nothing was changed.
    public static let noMemory = Code("no memory")
    /// A write or a sync failed earlier. Reading still works; writing needs the store to be reopened.
    public static let poisoned = Code("poisoned")
    /// The store was opened for reading.
    public static let readOnly = Code("read only")
    /// The store is open in this process already, with other options.
    public static let optionsMismatch = Code("options mismatch")
    /// The store was opened by the process that this one was forked from, and cannot be used here. Nothing was changed.
    public static let forked = Code("forked")
    /// The store or the snapshot was closed.
    public static let closed = Code("closed")
    /// An encoded key is longer than 65,536 bytes.
    public static let keyTooLong = Code("key too long")
    /// A value is longer than 1 GiB.
    public static let valueTooLarge = Code("value too large")
    /// A batch takes more than 4 GiB in the log.
    public static let batchTooLarge = Code("batch too large")
    /// The keyspace exists with the other order.
    public static let orderMismatch = Code("order mismatch")
    /// The keyspace has been dropped.
    public static let keyspaceDropped = Code("keyspace dropped")
    /// The keyspace belongs to another store, or to an earlier opening of this one.
    public static let foreignKeyspace = Code("foreign keyspace")
    /// A store has 100,000 keyspaces at most, and 2³¹ in all its life, dropped ones included.
    public static let tooManyKeyspaces = Code("too many keyspaces")
    /// The store has used up its segment numbers, epochs or sequences. It can be read and copied.
    public static let numbersUsedUp = Code("numbers used up")
    /// The index takes more than the 256 GiB that a checkpoint can refer to. Nothing was changed.
    public static let indexTooLarge = Code("index too large")
    /// A range of an unordered keyspace was requested.
    public static let notOrdered = Code("not ordered")
    /// An argument is outside the values that are allowed, such as a keyspace name that is empty or too long.
    public static let invalidArgument = Code("invalid argument")
    /// Bytes or a text do not have the required form, such as bytes that are not an encoded key.
    public static let malformed = Code("malformed")
    /// The log does not have the requested commit: it has not been made yet, or compaction has looked at a newer one.
    public static let commitNotFound = Code("commit not found")
    /// Since the store was opened for reading, it has been taken back to an earlier commit, or another one is at its
    /// path. Reading still works; what is there now is read after the store has been opened again. Likewise a
    /// ``ChangePosition`` from before the store was taken back, or of another store: the reader starts from a snapshot.
    public static let replaced = Code("replaced")
    /// Rows may have been deleted after a ``ChangePosition`` without a trace in the log. The reader starts from a
    /// snapshot.
    public static let positionExpired = Code("position expired")
    /// The caller's progress function returned false. No row was changed.
    public static let cancelled = Code("cancelled")
    /// The operating system reported an error that none of the other codes names.
    public static let inputOutput = Code("input/output")
  }

  /// A row that is not as a batch expected it to be.
  public struct Conflict: Hashable, Sendable, CustomStringConvertible {
    /// The name of the keyspace.
    public let keyspace: String
    /// The key of the row.
    public let key: Key
    /// What the batch expected.
    public let expected: Expectation
    /// The sequence of the commit that wrote the row; nil where there is no row.
    public let found: CommitSequence?

    package init(keyspace: String, key: Key, expected: Expectation, found: CommitSequence?) {
      (self.keyspace, self.key, self.expected, self.found) = (keyspace, key, expected, found)
    }

    /// In words.
    public var description: String {
      "\(key) in \(keyspace): expected \(expected), found \(found.map { "sequence \($0)" } ?? "nothing")"
    }
  }

  /// The kind of the failure.
  public let code: Code
  /// A message that says what happened.
  public let message: String
  /// The place in the log that the error is about, if there is one.
  public let place: Place?
  /// The rows that were not as expected, in the order of the batch; empty unless the code is `conflict`.
  public let conflicts: [Conflict]
  /// The operating system's `errno`, if it comes from there.
  public let systemError: Int32?

  package init(
    _ code: Code, _ message: String, place: Place? = nil, conflicts: [Conflict] = [], systemError: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.place = place
    self.conflicts = conflicts
    self.systemError = systemError
  }

  /// In words.
  public var description: String {
    place.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
  }
}
