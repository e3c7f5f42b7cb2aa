#if PostgreSQL
  public import CoreData
  @_exported public import IncrementalStore

  extension NSPersistentStore.StoreType {
    /// The type of the stores in a PostgreSQL database.
    public static let postgreSQL = NSPersistentStore.StoreType(rawValue: "PostgreSQL")
  }

  extension NSPersistentStoreDescription {
    /// Describes a store in a PostgreSQL database:
    ///
    ///     container.persistentStoreDescriptions = [.postgreSQL("postgresql://shop@db.example.com/shop")]
    ///
    /// The database must exist. Its options are ``PostgreSQLConnectionsOption``, ``PostgreSQLWaitOption``,
    /// ``PostgreSQLReferencesOption``, ``PostgreSQLPasswordOption``, `RowCacheBytesOption` and
    /// `NSReadOnlyPersistentStoreOption`. Registers ``PostgreSQLIncrementalStore``.
    ///
    /// - Parameters:
    ///   - address: A connection URI as libpq takes it, without a password. For what the URI leaves out, libpq's
    ///     environment variables and files count.
    ///   - namespace: The schema of the database that has the store's tables, and nothing else. It is made if there is
    ///     none. A database can have several.
    /// - Returns: Nil if the address is not a URI.
    public static func postgreSQL(_ address: String, namespace: String = "cairn") -> NSPersistentStoreDescription? {
      PostgreSQLIncrementalStore.register()
      let fragment = namespace.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      guard let url = URL(string: "\(address)#\(fragment)") else { return nil }
      let description = NSPersistentStoreDescription(url: url)
      description.type = NSPersistentStore.StoreType.postgreSQL.rawValue
      return description
    }
  }

  /// A Core Data store in a PostgreSQL database.
  ///
  /// Any number of processes on any number of machines may use it at once, each with any number of coordinators. Two
  /// that change one object get the same conflicts as two coordinators of one process.
  public final class PostgreSQLIncrementalStore: RowIncrementalStore {
    /// `PostgreSQL`.
    public override class var storeType: String { NSPersistentStore.StoreType.postgreSQL.rawValue }

    public override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
      try PostgreSQLRowStore(at: url, PostgreSQLOptions(options))
    }

    private var poller: ChangePoller?

    public override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
      super.didAdd(to: coordinator)
      guard let rows = rowStore as? PostgreSQLRowStore, let interval = (try? PostgreSQLOptions(options))?.poll else {
        return
      }
      poller = ChangePoller(self, rows, every: interval)
    }

    public override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
      poller?.stop()
      super.willRemove(from: coordinator)
    }

    /// Tells the contexts and observers of the store what others have saved.
    ///
    /// - Parameter changes: Nil if any object may have changed.
    func othersHaveSaved(_ changes: [SavedChanges]?) {
      func ids(_ objects: KeyPath<SavedChanges, [ObjectReference]>) -> [NSManagedObjectID] {
        (changes ?? []).flatMap { $0[keyPath: objects] }.compactMap { access.objectID($0) }
      }
      guard changes != nil else { return tellOfUnknownChanges() }
      tellOfChanges(inserted: ids(\.inserted), updated: ids(\.updated), deleted: ids(\.deleted))
    }

    /// Removes the tables of the store at `url`, if there is one, and its namespace, unless that has anything else.
    ///
    /// - Throws: Errors of the server, for instance if somebody uses the store and does not end in time.
    public override class func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
      try PostgreSQLRowStore.destroy(at: url, PostgreSQLOptions(options))
    }

    /// Compares the columns of the store at `url` with the rows and entries beside them, which are what Core Data reads.
    /// A difference means that somebody has changed a column, a table or an entry with SQL. Searches may then find too
    /// much or too little; the values of objects are as before. Reads all rows, each table as it is at one time.
    ///
    /// - Parameters:
    ///   - url: The URL of the store.
    ///   - options: Options for opening the store.
    ///   - report: Called with a line of text for each difference.
    /// - Throws: Errors of the server, and what `report` throws.
    public static func verify(
      at url: URL, options: [AnyHashable: Any]? = nil, _ report: @escaping (_ difference: String) throws -> Void
    ) throws {
      var options = options ?? [:]
      options[NSReadOnlyPersistentStoreOption] = NSNumber(value: true)
      let rows = try PostgreSQLRowStore(at: url, PostgreSQLOptions(options))
      defer { rows.close() }
      try rows.verify(report)
    }

    /// Registers the store type with Core Data. `NSPersistentStoreDescription.postgreSQL(_:namespace:)` calls this.
    public static func register() { NSPersistentStoreCoordinator.registerStoreClass(self, type: .postgreSQL) }
  }

  extension PostgreSQLIncrementalStore: ConcurrentStore {}
#endif
