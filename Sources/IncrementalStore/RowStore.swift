@_exported public import RowFormat

/// What a database must implement so that Core Data can keep objects in it. ``RowIncrementalStore`` does everything
/// else.
///
/// A row store has *tables*, numbered from 0, which contain *rows*, and one sorted set of *entries*. To the row store,
/// rows and entries are bytes; `Documentation/STORE-FORMAT.md` describes their contents. ``MemoryRowStore`` is a
/// minimal row store, worth reading as an example.
///
/// - A row is found by its reference. It has bytes; a *version*, which is 1 when the row is inserted and increases by
///   one each time the row is put again or *touched*; and a *revision*, the number of the save that last put or touched
///   the row. No two saves have the same number, and later saves of one row have higher numbers; saves that share no
///   row may have their numbers in any order. A row that is deleted and inserted again starts at version 1.
/// - References are of the kind that the store makes, ``referenceKind``. Table 0 and the four tables with the highest
///   numbers, which the incremental store keeps for itself, have whole numbers and strings besides.
/// - Entries are compared byte by byte; a prefix comes before any longer entry that begins with it. An entry has at
///   least one byte. The set contains each entry once.
/// - A table is created with its first row. A table without rows reads as empty.
///
/// Several threads may call any of the methods at once.
///
/// To write a row store:
///
/// 1. Implement ``snapshot()`` with the database's own way of reading a state that later changes do not affect.
/// 2. Implement ``save(_:)`` under a lock, or in a transaction during which nothing else can commit. The closure passed
///    to it reads the newest snapshot and returns the changes.
/// 3. Implement ``reserveReferences(_:)`` with numbers from a counter that is durable before the method returns, or
///    with values that the database never makes twice, such as UUIDs.
/// 4. Subclass ``RowIncrementalStore`` and override ``RowIncrementalStore/rowStore(at:options:)`` and
///    ``RowIncrementalStore/storeType``.
/// 5. Run `RowStoreConformance`, of the library of that name, on it.
/// 6. If rows are to be more than bytes to the database, read what they mean from the ``RowSchema`` of a snapshot, and
///    of the changes of each save.
///
/// If the database is another process or machine, each call of a snapshot waits for an answer. Then also implement
/// ``RowSnapshot/rows(_:in:)`` and ``RowSnapshot/entries(beginningWith:limit:)``, and let ``RowSnapshot/isRemote``
/// be true: saves and fetches read in bulk then. Saves do not read the rows of new objects at first: if such a row
/// exists nevertheless, the store must call the closure of the save again, which reads it then.
///
/// If the database has columns for the values of rows, its snapshots may also be searched: ``SearchingRowSnapshot``.
public protocol RowStore: AnyObject, Sendable {
  /// The kind of the references that the store makes. It never changes for a store that has rows.
  var referenceKind: RowReferenceKind { get }

  /// Whether snapshots may be held for as long as anybody likes, so that contexts can be pinned to them.
  var keepsSnapshots: Bool { get }

  /// Whether the database itself indexes what rows have, as the schema declares it. Then entries of declared indexes
  /// are not kept a second time, and fetches ask snapshots to search: ``SearchingRowSnapshot``.
  var hasIndexesOfItsOwn: Bool { get }

  /// Whether the place where the database keeps an entry depends on the schema that it has when the entry is added. A
  /// migration then adds the entries that the new schema needs together with that schema, and holds all of them in
  /// memory; otherwise before that, in saves of limited size.
  var placesEntriesBySchema: Bool { get }

  /// A snapshot of the current contents, which later saves do not affect. It is held for the length of one request, or
  /// as long as a context is pinned to it. If the store does not keep snapshots, it may be one of the contents at the
  /// time of its first read.
  func snapshot() throws -> any RowSnapshot

  /// A row as it is now; nil if there is none. The same as reading the row from a new snapshot, which may take more
  /// time.
  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow?

  /// Applies all changes that `changes` returns, or none if anything throws.
  ///
  /// The closure is given a snapshot that contains all previous saves; no other save of any process takes place between
  /// that snapshot and the changes. If the closure throws, its error is rethrown unchanged. The closure may be called
  /// again, with a newer snapshot, if the changes could not be stored.
  ///
  /// When this returns, the changes are as durable as the store promises.
  ///
  /// - Returns: The revision of the rows that were put and touched. If there is nothing to change, any number.
  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64

  /// New references, unique in the whole store, that were never returned before and are never returned again, even if
  /// the process ends before they are used. This holds for references of every kind.
  func reserveReferences(_ count: Int) throws -> [RowReference]

  /// Closes the database. No other method is called afterwards.
  func close() throws
}

extension RowStore {
  /// True.
  public var keepsSnapshots: Bool { true }

  /// False.
  public var hasIndexesOfItsOwn: Bool { false }

  /// False.
  public var placesEntriesBySchema: Bool { false }

  /// Reads the row from a new snapshot.
  public func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    try snapshot().row(reference, in: table)
  }
}

/// A row store whose snapshots show an earlier state than the last one while another process saves.
///
/// ``RowIncrementalStore`` refreshes a store that was added with `NSReadOnlyPersistentStoreOption` before each fetch.
public protocol RefreshableRowStore: RowStore {
  /// Lets snapshots that are taken from now on show the last state that any process has saved. Returns a number that
  /// rises with each save; the same number if there was none. Should take no time then.
  func refresh() throws -> UInt64
}

/// The kinds of references.
public enum RowReferenceKind: Sendable {
  /// Whole numbers.
  case integer
  /// Strings.
  case string
  /// UUIDs.
  case uuid
}

/// The contents of a row store at one point in time.
///
/// A snapshot is used by one thread at a time, though perhaps by several threads in turn. While it calls a closure with
/// rows or entries, the closure may call any method of the snapshot.
public protocol RowSnapshot: AnyObject {
  /// A number that no two snapshots of a store have unless they have the same contents; nil if none can be told
  /// without reading.
  var state: UInt64? { get }

  /// A row; nil if there is none.
  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow?

  /// The version and the revision of a row; nil if there is none. The same as those of ``row(_:in:)``, which may take
  /// more time.
  func stamp(of reference: RowReference, in table: UInt32) throws -> (version: UInt64, revision: UInt64)?

  /// Calls `body` with each row of a table in the order of the references, until it returns false. Rows before `first`
  /// are skipped, which should take no time.
  ///
  /// The store may pass the same row, with other bytes, in every call, so that nothing is allocated for rows that the
  /// caller does not keep.
  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws

  /// As ``forEachRow(in:from:_:)``, but calls `body` only with rows for which `test` returns true.
  ///
  /// `test` gets the bytes of each row where they lie, so that a row need not be copied only to be passed over. The
  /// bytes are valid until `test` returns.
  func forEachRow(
    in table: UInt32, from first: RowReference?, where test: (RawSpan) throws -> Bool,
    _ body: (inout StoredRow) throws -> Bool
  ) throws

  /// Calls `body` with the reference of each row of a table until it returns false, as ``forEachRow(in:from:_:)`` does
  /// with the row. The contents of rows need not be read.
  func forEachReference(in table: UInt32, from first: RowReference?, _ body: (RowReference) throws -> Bool) throws

  /// The number of rows in a table.
  func count(in table: UInt32) throws -> Int

  /// Calls `body` with each entry from `lower` on and before `upper`, in order or, if `reverse`, in reverse order,
  /// until it returns false. Without `upper`, to the last entry.
  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws

  /// Whether each call waits for another process or machine, so that one call for many rows or entries is better than
  /// many calls, even if some are not needed then.
  var isRemote: Bool { get }

  /// The rows of one table at several references, in the order of this list; nil for each that does not exist. A
  /// reference may be in the list several times.
  func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?]

  /// The entries that begin with each of several prefixes, for each prefix in order and at most `limit`.
  func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]]

  /// The rows at references, by their tables, and entries: what ``rows(_:in:)`` and ``entries(beginningWith:limit:)``
  /// return, if possible with less waiting.
  func rows(
    _ references: [UInt32: [RowReference]], entriesBeginningWith prefixes: [[UInt8]], limit: Int
  ) throws -> (rows: [UInt32: [StoredRow?]], entries: [[[UInt8]]])
}

extension RowSnapshot {
  /// Nil.
  public var state: UInt64? { nil }

  /// False.
  public var isRemote: Bool { false }

  /// Reads the row.
  public func stamp(of reference: RowReference, in table: UInt32) throws -> (version: UInt64, revision: UInt64)? {
    try row(reference, in: table).map { ($0.version, $0.revision) }
  }

  /// Tests the rows of ``forEachRow(in:from:_:)``.
  public func forEachRow(
    in table: UInt32, from first: RowReference?, where test: (RawSpan) throws -> Bool,
    _ body: (inout StoredRow) throws -> Bool
  ) throws {
    try forEachRow(in: table, from: first) { row in
      guard unsafe try row.bytes.withUnsafeBytes({ unsafe try test($0.bytes) }) else { return true }
      return try body(&row)
    }
  }

  /// Reads the rows.
  public func forEachReference(
    in table: UInt32, from first: RowReference?, _ body: (RowReference) throws -> Bool
  ) throws {
    try forEachRow(in: table, from: first) { try body($0.reference) }
  }

  /// Reads the rows one by one.
  public func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
    try references.map { try row($0, in: table) }
  }

  /// Reads the entries of the prefixes one after the other.
  public func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]] {
    guard limit > 0 else { return prefixes.map { _ in [] } }
    return try prefixes.map { prefix in
      var entries: [[UInt8]] = []
      try forEachEntry(beginningWith: prefix) { entry in
        entries.append(entry)
        return entries.count < limit
      }
      return entries
    }
  }

  /// Reads the rows of one table after the other, and then the entries.
  public func rows(
    _ references: [UInt32: [RowReference]], entriesBeginningWith prefixes: [[UInt8]], limit: Int
  ) throws -> (rows: [UInt32: [StoredRow?]], entries: [[[UInt8]]]) {
    var found: [UInt32: [StoredRow?]] = [:]
    for (table, references) in references { found[table] = try rows(references, in: table) }
    return (found, prefixes.isEmpty ? [] : try entries(beginningWith: prefixes, limit: limit))
  }

  /// Calls `body` with each entry that begins with `prefix`, in order, until it returns false.
  package func forEachEntry(
    beginningWith prefix: [UInt8], reverse: Bool = false, _ body: ([UInt8]) throws -> Bool
  ) throws {
    try forEachEntry(from: prefix, before: Entry.successor(of: prefix), reverse: reverse, body)
  }
}

/// A row of a row store.
public struct StoredRow: Sendable {
  /// The reference that identifies the row in its table.
  public var reference: RowReference
  /// The contents.
  public var bytes: [UInt8]
  /// The number of saves that have put or touched the row, its insertion included.
  public var version: UInt64
  /// The number of the save that last put or touched the row.
  public var revision: UInt64

  /// A row.
  public init(reference: RowReference, bytes: [UInt8], version: UInt64, revision: UInt64) {
    self.reference = reference
    self.bytes = bytes
    self.version = version
    self.revision = revision
  }

  /// A copy of the row in memory of its own, allocated to its exact size: a store may read all rows into the same
  /// array, so a small row after a large one would otherwise keep the large capacity.
  func copy() -> StoredRow {
    let exact = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    return StoredRow(reference: reference, bytes: exact, version: version, revision: revision)
  }
}

/// The changes of a save.
public struct RowChanges {
  /// A row that is put, touched or deleted.
  public struct Row {
    /// What happens to a row.
    public enum Change: Hashable, Sendable {
      /// The row gets these bytes. It is inserted if there is none.
      case put([UInt8])
      /// The version and the revision of the row change as if it were put; its bytes stay. A store may keep both apart
      /// from the bytes, so that these need not be written again.
      case touch
      /// The row is removed.
      case delete
    }

    /// The table.
    public let table: UInt32
    /// The reference of the row in the table.
    public let reference: RowReference
    /// What happens to the row.
    public let change: Change
    /// The revision of the row in the snapshot; nil if the snapshot has no such row. A store that cannot rule out other
    /// writers to the database compares it with the current revision.
    public let revision: UInt64?

    /// A change of a row.
    public init(table: UInt32, reference: RowReference, change: Change, revision: UInt64?) {
      (self.table, self.reference, self.change, self.revision) = (table, reference, change, revision)
    }
  }

  /// The rows, each once, ordered by table and reference.
  public var rows: [Row] = []
  package var removals = EntryList()
  package var additions = EntryList()

  /// No changes.
  public init() {}

  /// Entries to remove, in order. Some may not exist. An access takes O(number of entries).
  public var removedEntries: [[UInt8]] {
    get { removals.map { Array($0) } }
    set { removals = EntryList(newValue) }
  }

  /// Entries to add, in order. Some may already exist; none is also in `removedEntries`. An access takes O(number of
  /// entries).
  public var addedEntries: [[UInt8]] {
    get { additions.map { Array($0) } }
    set { additions = EntryList(newValue) }
  }

  /// Whether nothing is changed.
  public var isEmpty: Bool { rows.isEmpty && removals.isEmpty && additions.isEmpty }
}
