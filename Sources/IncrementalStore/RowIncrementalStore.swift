public import CoreData

/// The key of a store option: how many bytes of memory the row cache may use for rows that no context uses. An
/// `NSNumber`; 16 MiB if not set.
public let RowCacheBytesOption = "RowCacheBytes"

/// The key of a store option: whether adding the store to a coordinator returns only when the indexes that the model
/// declares are built. An `NSNumber`; if not set, they are built in the background, and fetches read all rows until
/// then.
public let BuildsIndexesFirstOption = "BuildsIndexesFirst"

/// The key of a store option: for how many seconds the transactions of the history are kept. An `NSNumber`; for ever if
/// not set. Older transactions are deleted in the background, when the store is added and after every 64 transactions.
public let HistoryMaximumAgeOption = "HistoryMaximumAge"

/// The key of a store option: how many of the last transactions of the history are kept. An `NSNumber`; all if not set.
/// Others are deleted in the background, when the store is added and after every 64 transactions.
public let HistoryMaximumCountOption = "HistoryMaximumCount"

/// A Core Data store on top of a database that implements ``RowStore``.
///
/// It does everything that Core Data expects of an incremental store: metadata, permanent identifiers, faults, fetches
/// of every kind, saves as one batch with optimistic locking, uniqueness constraints, and a row cache. A subclass only
/// chooses the database: it overrides ``storeType`` and ``rowStore(at:options:)`` and nothing else, and is registered
/// with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`.
///
/// Each request reads one snapshot of the database. A fetch reads the rows that entries name, if its predicate is about
/// related objects, unique values or values of an index that the model declares, or else all rows of its entity; it
/// makes no nodes or objects for rows that do not match, unless its predicate is a block.
open class RowIncrementalStore: NSIncrementalStore {
  /// The type under which the class is registered. Every subclass must override it.
  open class var storeType: String { fatalError("\(self) does not override storeType, as every subclass must.") }

  /// Opens the database at `url`, and creates it if there is nothing, or an empty file, at `url`. Every subclass must
  /// override it.
  ///
  /// - Parameters:
  ///   - url: The location of the store.
  ///   - options: The options that the store was added with. If `NSReadOnlyPersistentStoreOption` is true, the database
  ///     must already exist and is not changed.
  /// - Throws: An error of Cocoa's domain if the database cannot be opened.
  open class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    fatalError("\(self) does not override rowStore(at:options:), as every subclass must.")
  }

  /// The database; nil before the metadata are loaded and after the store is removed. Any thread may read it.
  public private(set) var rowStore: (any RowStore)? {
    get { rowStoreLock.withLock { lockedRowStore } }
    set { rowStoreLock.withLock { lockedRowStore = newValue } }
  }

  private let rowStoreLock = NSLock()
  private var lockedRowStore: (any RowStore)?

  private var completedRows: (any RowStore)?
  /// How many migrations had changed the schema when it was loaded.
  private var migrations: UInt32 = 0
  private let migrationCount = MigrationCount()
  private var loadedAccess: RowAccess?
  private(set) var cache = RowCache(limit: 16 << 20)
  /// Whether the metadata have changed since they were last loaded or written.
  private(set) var metadataHaveChanged = false
  /// The metadata as they were last loaded or written.
  private(set) var storedMetadata: [String: Any] = [:]
  private let referencesLock = NSLock()
  private var references: ArraySlice<RowReference> = []
  /// The declared indexes that were read last, and the state of the snapshot that they are of.
  private var lastIndexes: (indexes: DeclaredIndexes, state: UInt64?)? {
    get { readingLock.withLock { lockedLastIndexes } }
    set { readingLock.withLock { lockedLastIndexes = newValue } }
  }
  /// Whether saves are planned with the rows that the cache has: those of a remote database that has never recorded
  /// history, as far as the last save has found.
  var savesKnownRows = false
  private var lastState: UInt64? {
    get { readingLock.withLock { lockedLastState } }
    set { readingLock.withLock { lockedLastState = newValue } }
  }

  /// Protects what reading changes. Nothing is called while it is held.
  private let readingLock = NSLock()
  private var lockedLastIndexes: (indexes: DeclaredIndexes, state: UInt64?)?
  private var lockedLastState: UInt64?

  private var build: BackgroundBuild?
  var upkeep: HistoryUpkeep?
  /// The revision of the rows that the last save has written; nil if it has written none.
  package var lastRevision: UInt64?
  /// The transaction of the last save or batch request; nil if none was recorded.
  var lastPosition: HistoryPosition?
  /// What writes more rows with each save; nil for most stores.
  package weak var companion: (any SaveCompanion)?

  deinit {
    upkeep?.stop()
    build?.stop()
    try? rowStore?.close()
  }

  open override var type: String { Self.storeType }

  open override var metadata: [String: Any]! { didSet { metadataHaveChanged = true } }

  package var access: RowAccess {
    guard let loadedAccess else {
      fatalError("\(Swift.type(of: self)) is used before its metadata is loaded.")
    }
    return loadedAccess
  }

  /// The database, with rows that are complete by the store's schema.
  package var rows: any RowStore {
    guard rowStore != nil, let completedRows else {
      fatalError("\(Swift.type(of: self)) is used after it was removed, or before its metadata is loaded.")
    }
    return completedRows
  }

  // MARK: Life

  open override func loadMetadata() throws {
    guard let url, let model = persistentStoreCoordinator?.managedObjectModel else {
      throw StoreFailure.make(
        NSPersistentStoreOpenError, "A store of the type \(Self.storeType) needs a URL and a coordinator.")
    }
    if let limit = (options?[RowCacheBytesOption] as? NSNumber)?.intValue { cache = RowCache(limit: limit) }
    let rows = try Self.rowStore(at: url, options: options)
    do {
      var head = try StoreHead.load(rows, url, Self.storeType, isReadOnly: isReadOnly) { self.newMetadata(at: url) }
      if try StoreMigration.isNeeded(head, model, configurationName, options) {
        let coder = ValueCoder(coordinator: persistentStoreCoordinator)
        let step = (options?[StoreMigration.stepOption] as? NSNumber)?.intValue ?? 20_000
        head = try MigrationCount.counting {
          try StoreMigration(rows, url, model, configurationName, coder, step: step).run()
        }
      }
      let schema = try head.schema(for: model, configurationName, options, rows, isReadOnly: isReadOnly)
      loadedAccess = RowAccess(try SchemaMap(schema, model), rows.referenceKind, self)
      lastIndexes?.state = nil
      metadata = head.metadata
      storedMetadata = head.metadata
      metadataHaveChanged = false
      if !isReadOnly, (options?[BuildsIndexesFirstOption] as? NSNumber)?.boolValue == true {
        while try IndexBuilder(space: DiskSpace(at: url)).advance(rows) {}
      }
      rowStore = rows
      completedRows = CompletedRowStore.completing(rows, schema)
      migrations = schema.migrations
    } catch {
      try? rows.close()
      throw error
    }
  }

  private func newMetadata(at url: URL) -> [String: Any] {
    [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: Self.identifierForNewStore(at: url)]
  }

  /// Writes the hashes of the model into a new store, even if nothing is ever saved.
  open override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
    guard !isReadOnly else { return }
    beginHistoryUpkeep()
    if storedMetadata[NSStoreModelVersionHashesKey] == nil {
      // If this fails, the first save fails as well and reports the reason.
      try? save(NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil), nil)
    }
    guard (options?[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? NSNumber)?.boolValue != true,
      let rowStore, let indexes = try? indexes(in: rowStore.snapshot()), !indexes.areReady
    else { return }
    build = BackgroundBuild(rowStore, url)
  }

  open override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    upkeep?.stop()
    build?.stop()
    try? rowStore?.close()
    (rowStore, completedRows) = (nil, nil)
  }

  open override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    let rows = try rowStore(at: url, options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    defer { try? rows.close() }
    return try StoreHead.load(rows, url, storeType, isReadOnly: true) { [:] }.metadata
  }

  open override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    let rows = try rowStore(at: url, options: nil)
    defer { try? rows.close() }
    let old = try StoreHead.load(rows, url, storeType, isReadOnly: false) {
      [NSStoreTypeKey: storeType, NSStoreUUIDKey: identifierForNewStore(at: url)]
    }.metadata
    let bytes = try StoreHead.bytes(of: StoreHead.metadata(metadata, keeping: old))
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      changes.rows = [try StoreHead.change(StoreHead.metadataReference, bytes, snapshot)]
      return changes
    }
  }

  /// Returns once old transactions that were being deleted in the background are gone.
  package func waitForHistoryUpkeep() { upkeep?.wait() }

  /// Returns once the indexes are built in the background, or building them has failed.
  package func waitForIndexes() { build?.wait() }

  /// The declared indexes as a snapshot has them.
  ///
  /// - Throws: 134100 if the store has been migrated since it was opened here.
  func indexes(in snapshot: any RowSnapshot) throws -> DeclaredIndexes {
    let state = snapshot.state
    let last = lastIndexes
    if let last, let state, state == last.state { return last.indexes }
    let indexes = try DeclaredIndexes.read(snapshot, haveEntries: !rows.hasIndexesOfItsOwn, last?.indexes)
    guard indexes.migrations == migrations else {
      throw StoreFailure.make(
        NSPersistentStoreIncompatibleVersionHashError,
        "The store at \(url?.absoluteString ?? "?") has been migrated to another model since it was opened here.")
    }
    lastIndexes = (indexes, state)
    return indexes
  }

  /// The declared indexes that were read last, if a snapshot can find out together with its first read whether they are
  /// those that it has.
  ///
  /// - Parameter absent: References of rows that table 0 must not have either.
  func expectedIndexes(in snapshot: any RowSnapshot, absent: [RowReference] = []) -> DeclaredIndexes? {
    guard snapshot.isRemote, let indexes = lastIndexes?.indexes, let revision = indexes.revision,
      let snapshot = snapshot as? any SchemaExpectingSnapshot,
      snapshot.expect(schemaRevision: revision, absent: absent)
    else { return nil }
    return indexes
  }

  /// A snapshot for reading single objects.
  ///
  /// - Throws: 134100 if this process has migrated the store since it was opened here.
  func currentSnapshot() throws -> any RowSnapshot {
    let snapshot = try rows.snapshot()
    try migrationCount.checkIfChanged { _ = try indexes(in: snapshot) }
    return snapshot
  }

  /// Lets a store that is read-only show what other processes have saved last. Returns a number that rises with each
  /// save; nil if the store is not read-only, or its database shows all saves anyway.
  ///
  /// - Throws: 134100 if another process has migrated the store since it was opened here.
  @discardableResult
  package func refresh() throws -> UInt64? {
    guard isReadOnly, let rowStore = rowStore as? any RefreshableRowStore else { return nil }
    let state = try rowStore.refresh()
    if state != lastState { _ = try indexes(in: rowStore.snapshot()) }
    lastState = state
    return state
  }

  func metadataWereWritten(_ metadata: [String: Any]) { (storedMetadata, metadataHaveChanged) = (metadata, false) }

  // MARK: Requests

  open override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    switch request {
    case let request as NSFetchRequest<NSManagedObject>:
      try refresh()
      return try RowFetch(self, context).execute(request)
    case let request as NSSaveChangesRequest:
      try save(request, context)
      return [Any]()
    default:
      if let result = try executeBatch(request, context) { return result }
      throw StoreFailure.make(
        NSPersistentStoreUnsupportedRequestTypeError,
        "Stores of the type \(Self.storeType) support no requests of the class \(Swift.type(of: request)).")
    }
  }

  // MARK: Objects

  open override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    if let pinned = try pinnedSnapshot(context) {
      guard let (row, map) = try row(of: objectID, in: pinned) else { throw StoreFailure.missing(objectID) }
      return try RowNode(CachedRow(row), of: objectID, map, access)
    }
    if let row = cache.row(of: objectID, maximumAge: context.stalenessInterval),
      let map = access.schema[objectID.entity]
    {
      return try RowNode(row, of: objectID, map, access)
    }
    return try cache.reading { start in
      guard let (row, map) = try currentRow(of: objectID) else {
        cache.remove(objectID)
        throw StoreFailure.missing(objectID)
      }
      return try RowNode(cache.set(CachedRow(row), of: objectID, readSince: start), of: objectID, map, access)
    }
  }

  /// The row of an object; nil if there is none.
  ///
  /// - Throws: 133000 for an identifier that cannot be one of the store's.
  private func row(
    of objectID: NSManagedObjectID, in snapshot: any RowSnapshot
  ) throws -> (row: StoredRow, map: EntityMap)? {
    let reference = try access.reference(objectID)
    guard let map = access.schema[reference.entity] else { return nil }
    return try snapshot.row(reference.reference, in: reference.entity).map { ($0, map) }
  }

  /// The row of an object as it is now.
  private func currentRow(of objectID: NSManagedObjectID) throws -> (row: StoredRow, map: EntityMap)? {
    let reference = try access.reference(objectID)
    guard let map = access.schema[reference.entity] else { return nil }
    let row = try rows.row(reference.reference, in: reference.entity)
    try migrationCount.checkIfChanged { _ = try indexes(in: rows.snapshot()) }
    return row.map { ($0, map) }
  }

  open override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let snapshot = try pinnedSnapshot(context) ?? currentSnapshot()
    guard relationship.isToMany else {
      guard let (row, map) = try row(of: objectID, in: snapshot) else { throw StoreFailure.missing(objectID) }
      guard let field = map.field(named: relationship.name) else { return NSNull() }
      let value = try StoreFailure.reading("The row of \(objectID)") { try access.value(of: field, in: row.bytes) }
      return value.objectID ?? NSNull()
    }
    guard let members = try members(of: relationship, of: access.reference(objectID), snapshot) else {
      throw StoreFailure.missing(objectID)
    }
    return members
  }

  /// The identifiers of the members of a to-many relationship; nil if the owner has no row.
  func members(
    of relationship: NSRelationshipDescription, of owner: ObjectReference, _ snapshot: any RowSnapshot
  ) throws -> [NSManagedObjectID]? {
    guard let map = access.schema[owner.entity], try snapshot.stamp(of: owner.reference, in: owner.entity) != nil
    else { return nil }
    var members: [NSManagedObjectID] = []
    guard let set = map.set(named: relationship.name) else { return members }
    // Most members are of one entity.
    var last: EntityMap?
    try snapshot.forEachMember(of: owner.reference, set.end) { member in
      if last?.number != member.member.entity { last = access.map(of: member.member, in: relationship) }
      guard let map = last else {
        throw StoreFailure.damaged(
          "A member of \(set.name) of \(access.name(owner))",
          RowDamage("it is not an object of the destination", at: 0))
      }
      members.append(access.objectID(member.member.reference, map))
    }
    return members
  }

  open override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    return try zip(array, takeReferences(array.count)).map { object, reference in
      guard let map = access.schema[object.entity] else {
        throw StoreFailure.make(
          NSPersistentStoreSaveError,
          "The store at \(url?.absoluteString ?? "?") does not know the entity \(object.entity.name ?? "").")
      }
      return access.objectID(reference, map)
    }
  }

  /// References for new objects.
  package func takeReferences(_ count: Int) throws -> ArraySlice<RowReference> {
    try referencesLock.withLock {
      if references.count < count {
        let reserved = try rows.reserveReferences(max(count - references.count, Self.block))
        references = references.isEmpty ? reserved[...] : references + reserved
      }
      defer { references = references.dropFirst(count) }
      return references.prefix(count)
    }
  }

  /// How many references are reserved at once.
  private static let block = 256

  open override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    cache.register(objectIDs)
  }

  open override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    cache.unregister(objectIDs)
  }
}
