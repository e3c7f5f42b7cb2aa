@_exported public import RowFormat

/// What a database has to do so that Core Data can keep objects in it. ``RowIncrementalStore`` does everything else.
///
/// A row store has *tables*, numbered from 0, of *rows*, and one sorted set of *entries*. What rows and entries mean is
/// not its concern: they are bytes. `Documentation/STORE-FORMAT.md` says what is in them. A minimal row store is
/// ``MemoryRowStore``, which is worth reading as an example.
///
/// - A row is found by its reference. It has bytes, a *version*, which is 1 when the row is inserted and one higher
///   each time it is put again, and a *revision*, the number of the save that put it last. A row that is deleted and
///   inserted again begins at version 1.
/// - Entries are ordered byte by byte, a beginning before what it begins. A set has each entry once.
/// - Tables appear with their first row. One without rows reads as empty.
///
/// All methods may be called by several threads at once.
///
/// To write a row store:
///
/// 1. Implement ``snapshot()`` by whatever the database has for reading without seeing later changes.
/// 2. Implement ``save(_:)`` by a lock, or a transaction that nothing else can commit beside; the closure that is given
///    looks at the newest snapshot and says what to change.
/// 3. Implement ``reserveReferences(_:)``: numbers from a counter that is durable before it returns, or whatever the
///    database makes that is never made twice, such as UUIDs.
/// 4. Subclass ``RowIncrementalStore`` and override ``RowIncrementalStore/rowStore(at:options:)`` and
///    ``RowIncrementalStore/storeType``.
public protocol RowStore: AnyObject, Sendable {
  /// Which kind of references the store makes. It never changes for a store that has rows.
  var referenceKind: RowReferenceKind { get }

  /// All there is, standing still. A snapshot is held for the length of one request.
  func snapshot() throws -> any RowSnapshot

  /// Changes rows and entries: all of what `changes` returns, or nothing if anything throws.
  ///
  /// The closure is given a snapshot that has all saves before; no other save of any process comes between that and the
  /// changes. If it throws, its error is thrown on as it is. It may be called again, with a newer snapshot, if the
  /// changes could not be stored.
  ///
  /// When this returns, the changes are as durable as the store promises.
  ///
  /// - Returns: The revision of the rows that were put, higher than any before. If there is nothing to change, any
  ///   revision.
  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64

  /// References that no object has ever had nor will have, also if the process ends before any is used. For a kind
  /// other than `integer`, too.
  func reserveReferences(_ count: Int) throws -> [RowReference]

  /// Lets go of the database. Nothing is called any more.
  func close() throws
}

/// The kinds of references.
public enum RowReferenceKind: Sendable {
  /// Whole numbers.
  case integer
  /// Texts.
  case string
  /// UUIDs.
  case uuid
}

/// A row store as it was at one time.
public protocol RowSnapshot: AnyObject {
  /// A row; nil if there is none.
  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow?

  /// Calls `body` with each row of a table in the order of the references, until it returns false. Rows before `first`
  /// are passed over, which should take no time.
  ///
  /// The store may use the same row for all calls, with other bytes, so that nothing is allocated for rows that nobody
  /// keeps.
  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws

  /// The number of rows in a table.
  func count(in table: UInt32) throws -> Int

  /// Calls `body` with each entry that begins with `prefix`, in their order or, if `reverse`, the other way round,
  /// until it returns false.
  func forEachEntry(beginningWith prefix: [UInt8], reverse: Bool, _ body: ([UInt8]) throws -> Bool) throws
}

/// A row as a row store has it.
public struct StoredRow: Sendable {
  /// What the row is found by in its table.
  public var reference: RowReference
  /// What is in it.
  public var bytes: [UInt8]
  /// How often it has been saved since it was inserted.
  public var version: UInt64
  /// The save that wrote it.
  public var revision: UInt64

  /// A row.
  public init(reference: RowReference, bytes: [UInt8], version: UInt64, revision: UInt64) {
    self.reference = reference
    self.bytes = bytes
    self.version = version
    self.revision = revision
  }

  /// The same row in memory of its own, no more than it needs: a store reads a large row and the small ones behind it
  /// into the same bytes.
  func copy() -> StoredRow {
    let exact = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    return StoredRow(reference: reference, bytes: exact, version: version, revision: revision)
  }
}

/// What a save changes.
public struct RowChanges {
  /// A row that is put or deleted.
  public struct Row {
    /// The table.
    public let table: UInt32
    /// What the row is found by.
    public let reference: RowReference
    /// What is in it from now on; nil if it is deleted.
    public let bytes: [UInt8]?
    /// The revision that the snapshot has; nil if it has no such row. A store that cannot be sure that nobody else
    /// writes to the database checks it.
    public let revision: UInt64?
  }

  /// The rows, each once, by table and reference.
  public internal(set) var rows: [Row] = []
  /// Entries that are removed, in their order. Some may not be there.
  public internal(set) var removedEntries: [[UInt8]] = []
  /// Entries that are added, in their order. Some may be there; none is among those removed.
  public internal(set) var addedEntries: [[UInt8]] = []

  /// Whether nothing is changed.
  public var isEmpty: Bool { rows.isEmpty && removedEntries.isEmpty && addedEntries.isEmpty }
}
