#if PostgreSQL
  import CoreData
  import IncrementalStore

  /// The row store in a namespace of a PostgreSQL database. Any number of processes may use it at once.
  final class PostgreSQLRowStore: RowStore {
    /// For how long a save is tried again while others change the same rows, or the server cannot be reached.
    private static let patience = Duration.seconds(10)
    /// How often it is tried in any case: an attempt may have waited that long for another transaction.
    private static let attempts = 8
    /// After how many attempts a save lets no others be made meanwhile: a process that saves without a pause would win
    /// against it every time.
    private static let attemptsBesideOthers = 4

    let referenceKind: RowReferenceKind
    private let layouts: LayoutCache
    /// Tells its saves from those of others.
    let client = UInt128.random(in: .min ... .max)
    private let place: PostgreSQLPlace
    private let pool: ConnectionPool
    private let references: ReferenceSource
    private let isReadOnly: Bool

    /// Opens a store. Makes its namespace and tables if there are none, unless the options are read-only.
    init(at url: URL, _ options: PostgreSQLOptions) throws {
      let place = try PostgreSQLPlace(url)
      self.place = place
      isReadOnly = options.isReadOnly
      let password = options.password
      pool = ConnectionPool(most: options.connections, patience: options.patience) {
        try Connection(place.address, password: password, namespace: place.namespace)
      }
      do {
        referenceKind = try place.translating { [pool] in try Self.prepare(place, options, pool) }
      } catch {
        pool.close()
        throw error
      }
      references = ReferenceSource(referenceKind)
      layouts = LayoutCache(referenceKind)
      do {
        // The layout is noted when the schema is read.
        _ = try snapshot().row(StoreHead.schemaReference, in: StoreHead.table)
      } catch {
        pool.close()
        throw error
      }
    }

    /// Makes the tables if there are none. Returns the kind of the store's references.
    private static func prepare(
      _ place: PostgreSQLPlace, _ options: PostgreSQLOptions, _ pool: ConnectionPool
    ) throws -> RowReferenceKind {
      for isLast in [false, true] {
        let connection = try pool.begin("BEGIN")
        defer { pool.end(connection) }
        guard let head = try Tables.head(of: connection) else {
          guard !options.isReadOnly, !isLast else {
            throw StoreFailure.make(NSPersistentStoreOpenError, "There is no Core Data store at \(place).")
          }
          do {
            try connection.run(Tables.creation(in: place.namespace, options.referenceKind) + "COMMIT")
            return options.referenceKind
          } catch let error as PostgreSQLError where ["23505", "42P06", "42P07"].contains(error.state) {
            // Another process may have made them meanwhile.
            continue
          }
        }
        guard head.format == Tables.format else {
          throw StoreFailure.make(
            NSPersistentStoreOpenError,
            "The store at \(place) has the format \(head.format), and this program knows \(Tables.format).")
        }
        return head.kind
      }
      return options.referenceKind
    }

    func close() { pool.close() }

    /// Removes the tables of the store at a URL, if there is one, and its namespace, if that has nothing else.
    static func destroy(at url: URL, _ options: PostgreSQLOptions) throws {
      let place = try PostgreSQLPlace(url)
      try place.translating {
        let connection = try Connection(
          place.address, password: options.password, namespace: place.namespace)
        guard try Tables.head(of: connection) != nil else { return }
        try connection.run(Tables.removal(of: connection))
        // Fails if somebody has put anything else into the namespace.
        try? connection.run("DROP SCHEMA \(Connection.quoted(place.namespace)) RESTRICT")
      }
    }

    /// Snapshots hold a transaction, which keeps the server from removing old rows.
    var keepsSnapshots: Bool { false }

    var hasIndexesOfItsOwn: Bool { true }

    var placesEntriesBySchema: Bool { true }

    /// The first statement decides what the transaction sees.
    func snapshot() throws -> any RowSnapshot {
      try place.translating {
        let connection = try pool.begin(PostgreSQLRowSnapshot.beginning)
        return PostgreSQLRowSnapshot(connection, place, layouts, end: pool.end)
      }
    }

    func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
      try place.translating {
        let table = layouts.current.table(table)
        guard table.canHave(reference) else { return nil }
        var parameters = Parameters()
        table.add(reference, to: &parameters)
        let answer = try pool.run(table.selectionOfOne, parameters)
        return answer.count > 0 ? try table.row(in: answer, 0) : nil
      }
    }

    /// What others have saved since the last look.
    func changes(_ cursor: inout ChangeCursor) throws -> ChangeCursor.Finding {
      try place.translating { try cursor.look(pool) }
    }

    /// Compares the columns with the bytes beside them.
    func verify(_ report: @escaping (String) throws -> Void) throws {
      try place.translating { try Verification(place, pool, layouts.current, report).run() }
    }

    // MARK: Saving

    func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
      try place.translating {
        let number = UInt128.random(in: .min ... .max)
        let end = ContinuousClock.now + Self.patience
        var pause = Duration.milliseconds(2)
        var (mayBeMade, readsSchema) = (false, false)
        var attempts = 0
        while true {
          attempts += 1
          do {
            let isAlone = attempts > Self.attemptsBesideOthers
            let revision = try attempt(
              number, mayBeMade: mayBeMade, isAlone: isAlone, readsSchema: readsSchema, changes)
            if revision > 0, revision % 256 == 0 { removeOldNumbers() }
            return revision
          } catch {
            guard let reason = PostgreSQLError(beneath: error),
              reason.isConflict || reason.isConnectionLost || reason.isMissingTable && !readsSchema,
              attempts < Self.attempts || ContinuousClock.now + pause < end
            else { throw error }
            mayBeMade = mayBeMade || reason.isConnectionLost
            readsSchema = reason.state == PostgreSQLError.schemaHasChanged || reason.isMissingTable
            // Whoever has changed what the first attempt has read or written has ended.
            if attempts == 1, reason.isConflict { continue }
            Thread.sleep(forTimeInterval: pause.seconds * .random(in: 0.5...1.5))
            pause = min(pause * 2, .milliseconds(500))
          }
        }
      }
    }

    /// - Parameters:
    ///   - number: Stays with all attempts of a save, so that the server tells whether an earlier one was made.
    ///   - mayBeMade: Whether the connection of an earlier attempt was lost.
    ///   - isAlone: Whether other saves wait until this one has ended.
    ///   - readsSchema: Whether the schema is read in any case.
    private func attempt(
      _ number: UInt128, mayBeMade: Bool, isAlone: Bool, readsSchema: Bool,
      _ changes: (any RowSnapshot) throws -> RowChanges
    ) throws -> UInt64 {
      let connection = try pool.begin("BEGIN ISOLATION LEVEL SERIALIZABLE")
      defer { pool.end(connection) }
      if isAlone { try excludeOthers(connection) }
      let writer = RowWriter(connection, client)
      // Waits for the transaction of an earlier attempt, which the server may not have ended.
      var revision: UInt64?
      if mayBeMade {
        let (found, isMade) = try writer.note(number)
        if isMade { return found }
        revision = found
      }
      let snapshot = PostgreSQLRowSnapshot(connection, place, layouts) { _ in }
      if readsSchema { _ = try snapshot.row(StoreHead.schemaReference, in: StoreHead.table) }
      let changes = try changes(snapshot)
      guard !changes.isEmpty else { return 0 }
      try snapshot.checkLayout()
      let (saved, layout) = try writer.write(changes, number, revision, snapshot.layout, snapshot.expectation)
      if let layout { layouts.note(layout) }
      return saved
    }

    /// Waits until no other save is being written, and lets none begin to write until the transaction ends. What the
    /// transaction reads afterwards has all saves before, so that nobody can be in conflict with it.
    ///
    /// - Throws: A conflict if another save does not end soon.
    private func excludeOthers(_ connection: Connection) throws {
      do {
        // Each save begins to write with its number.
        try connection.run(
          "SET LOCAL lock_timeout = '1s'; LOCK TABLE cairn_saves IN EXCLUSIVE MODE; SET LOCAL lock_timeout TO DEFAULT")
      } catch let error as PostgreSQLError where error.state == "55P03" {
        throw PostgreSQLError(state: "40001", message: "Another save of the same store does not end.")
      }
    }

    /// Removes the first numbers of saves that nobody can try again any more: more than have been added since the last
    /// time.
    private func removeOldNumbers() {
      _ = try? pool.run(
        """
        DELETE FROM cairn_saves WHERE made < now() - interval '1 day'
        AND number = ANY(ARRAY(SELECT number FROM cairn_saves ORDER BY transaction LIMIT 512))
        """, Parameters())
    }

    // MARK: References

    func reserveReferences(_ count: Int) throws -> [RowReference] {
      try place.translating {
        try references.take(count) { blocks in
          var parameters = Parameters()
          parameters.add(Int64(blocks))
          let answer = try pool.run(
            "SELECT nextval('cairn_references') FROM generate_series(1, $1)", parameters)
          return (0..<answer.count).map { answer.integer($0, 0) }
        }
      }
    }
  }

  extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
  }
#endif
