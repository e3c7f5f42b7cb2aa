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
    /// The first statement that reads decides what a transaction sees, not its beginning.
    private static let reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"

    private let place: PostgreSQLPlace
    private let pool: ConnectionPool
    private let references: ReferenceSource
    private let isReadOnly: Bool

    /// Opens a store. Makes its namespace and tables if there are none, unless the options are read-only.
    init(at url: URL, _ options: PostgreSQLOptions) throws {
      let place = try PostgreSQLPlace(url)
      self.place = place
      isReadOnly = options.isReadOnly
      referenceKind = options.referenceKind
      let password = options.password
      pool = ConnectionPool(most: options.connections, patience: options.patience) {
        try Connection(place.address, password: try password?(), namespace: place.namespace)
      }
      references = ReferenceSource(options.referenceKind)
      do {
        try place.translating { try prepare() }
      } catch {
        pool.close()
        throw error
      }
    }

    private func prepare() throws {
      for isLast in [false, true] {
        let connection = try pool.begin("BEGIN")
        defer { end(connection) }
        guard let format = try Tables.format(of: connection) else {
          guard !isReadOnly, !isLast else {
            throw StoreFailure.make(NSPersistentStoreOpenError, "There is no Core Data store at \(place).")
          }
          do {
            try connection.run(Tables.creation(in: place.namespace) + "COMMIT")
            return
          } catch {
            // Another process may have made them meanwhile.
            guard ["23505", "42P06", "42P07"].contains(error.state) else { throw error }
            continue
          }
        }
        guard format == Tables.format else {
          throw StoreFailure.make(
            NSPersistentStoreOpenError, "The store at \(place) has the format \(format), and this program knows 1.")
        }
        return
      }
    }

    func close() { pool.close() }

    /// Removes the tables of the store at a URL, if there is one, and its namespace, if that has nothing else.
    static func destroy(at url: URL, _ options: PostgreSQLOptions) throws {
      let place = try PostgreSQLPlace(url)
      try place.translating {
        let connection = try Connection(
          place.address, password: try options.password?(), namespace: place.namespace)
        guard try Tables.format(of: connection) != nil else { return }
        try connection.run(Tables.removal)
        // Fails if somebody has put anything else into the namespace.
        try? connection.run("DROP SCHEMA \(Connection.quoted(place.namespace)) RESTRICT")
      }
    }

    /// Snapshots hold a transaction, which keeps the server from removing old rows.
    var keepsSnapshots: Bool { false }

    func snapshot() throws -> any RowSnapshot {
      try place.translating {
        let connection = try pool.begin(Self.reading)
        return PostgreSQLRowSnapshot(connection, place) { [pool] connection in
          if !connection.isLost { try? connection.run("ROLLBACK") }
          pool.give(back: connection)
        }
      }
    }

    func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
      try place.translating {
        let statement = PostgreSQLRowSnapshot.RowStatement(reference, table)
        return try statement.row(in: pool.run(statement.text, statement.parameters))
      }
    }

    /// Ends a transaction, of which nothing stays, if it has not ended.
    private func end(_ connection: Connection) {
      if !connection.isLost, connection.isInTransaction { try? connection.run("ROLLBACK") }
      pool.give(back: connection)
    }

    // MARK: Saving

    func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
      try place.translating {
        let number = UInt128.random(in: .min ... .max)
        let end = ContinuousClock.now + Self.patience
        var pause = Duration.milliseconds(2)
        var mayBeMade = false
        var attempts = 0
        while true {
          attempts += 1
          do {
            let isAlone = attempts > Self.attemptsBesideOthers
            let revision = try attempt(number, mayBeMade: mayBeMade, isAlone: isAlone, changes)
            if revision > 0, revision % 256 == 0 { removeOldNumbers() }
            return revision
          } catch {
            guard let reason = PostgreSQLError(beneath: error), reason.isConflict || reason.isConnectionLost,
              attempts < Self.attempts || ContinuousClock.now + pause < end
            else { throw error }
            mayBeMade = mayBeMade || reason.isConnectionLost
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
    private func attempt(
      _ number: UInt128, mayBeMade: Bool, isAlone: Bool, _ changes: (any RowSnapshot) throws -> RowChanges
    ) throws -> UInt64 {
      let connection = try pool.begin("BEGIN ISOLATION LEVEL SERIALIZABLE")
      defer { end(connection) }
      if isAlone { try excludeOthers(connection) }
      let writer = RowWriter(connection)
      // Waits for the transaction of an earlier attempt, which the server may not have ended.
      var revision: UInt64?
      if mayBeMade {
        let (found, isMade) = try writer.note(number)
        if isMade { return found }
        revision = found
      }
      let changes = try changes(PostgreSQLRowSnapshot(connection, place) { _ in })
      guard !changes.isEmpty else { return 0 }
      let saved = try writer.write(changes, number, revision)
      try connection.run("COMMIT")
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
      } catch {
        guard error.state == "55P03" else { throw error }
        throw PostgreSQLError(state: "40001", message: "Another save of the same store does not end.")
      }
    }

    /// Removes the numbers of saves that nobody can try again any more.
    private func removeOldNumbers() {
      guard let connection = try? pool.begin("BEGIN") else { return }
      defer { end(connection) }
      try? connection.run("DELETE FROM cairn_saves WHERE made < now() - interval '1 day'; COMMIT")
    }

    // MARK: References

    func reserveReferences(_ count: Int) throws -> [RowReference] {
      try place.translating {
        try references.take(count) { blocks in
          let connection = try pool.begin("BEGIN")
          defer { end(connection) }
          var parameters = Parameters()
          parameters.add(Int64(blocks))
          let answer = try connection.run(
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
