#if PostgreSQL
  import CoreData
  import PostgreSQLIncrementalStore

  /// A store in PostgreSQL that the server does not search: fetches read all rows, or those to which entries of
  /// relationships and of unique values lead.
  final class ScanningStore: RowIncrementalStore {
    static let scanning = NSPersistentStore.StoreType(rawValue: "Scanning")

    /// The same type, so that it opens the same stores.
    override class var storeType: String { NSPersistentStore.StoreType.postgreSQL.rawValue }

    override func loadMetadata() throws {
      try super.loadMetadata()
      // The coordinator asks for the type under which the class is registered.
      metadata[NSStoreTypeKey] = Self.scanning.rawValue
    }

    override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
      ScanningRowStore(try PostgreSQLIncrementalStore.rowStore(at: url, options: options))
    }
  }

  private final class ScanningRowStore: RowStore {
    private let rows: any RowStore

    init(_ rows: any RowStore) { self.rows = rows }

    var referenceKind: RowReferenceKind { rows.referenceKind }
    var keepsSnapshots: Bool { rows.keepsSnapshots }
    var hasIndexesOfItsOwn: Bool { true }

    func snapshot() throws -> any RowSnapshot { ScanningSnapshot(try rows.snapshot()) }

    func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 { try rows.save(changes) }

    func reserveReferences(_ count: Int) throws -> [RowReference] { try rows.reserveReferences(count) }

    func close() throws { try rows.close() }
  }

  private final class ScanningSnapshot: RowSnapshot {
    private let snapshot: any RowSnapshot

    init(_ snapshot: any RowSnapshot) { self.snapshot = snapshot }

    func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
      try snapshot.row(reference, in: table)
    }

    func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws {
      try snapshot.forEachRow(in: table, from: first, body)
    }

    func count(in table: UInt32) throws -> Int { try snapshot.count(in: table) }

    func forEachEntry(
      from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
    ) throws {
      try snapshot.forEachEntry(from: lower, before: upper, reverse: reverse, body)
    }

    var isRemote: Bool { true }

    func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
      try snapshot.rows(references, in: table)
    }

    func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]] {
      try snapshot.entries(beginningWith: prefixes, limit: limit)
    }
  }
#endif
