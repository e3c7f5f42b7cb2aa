#if PostgreSQL
  /// Reads the saves of others, each once.
  ///
  /// Saves commit in another order than that of their numbers. Each has the number of its transaction, and the server
  /// tells the oldest transaction that is still open: what is older has ended, and is read up to there. A transaction
  /// that somebody has forgotten, anywhere on the server, therefore delays all later saves.
  struct ChangeCursor {
    /// What a look has found.
    enum Finding {
      case changes([SavedChanges])
      /// So much, or for so long unseen, that any object may have changed.
      case everything
    }

    /// For how long the numbers of saves are kept at least.
    private static let memory = Duration.seconds(12 * 3600)
    private static let mostSaves = 4096

    private let client: UInt128
    /// The first transaction that has not been read.
    private var next: UInt64?
    private var lastLook = ContinuousClock.now
    /// Since when the oldest open transaction is the same although there are later ones.
    private var waitingSince: ContinuousClock.Instant?

    /// - Parameter client: The number of the store whose own saves are left out.
    init(of client: UInt128) { self.client = client }

    /// For how long a transaction that stays open has delayed changes.
    var delay: Duration? { waitingSince.map { ContinuousClock.now - $0 } }

    /// Reads what others have saved since the last look. The first look finds nothing.
    mutating func look(_ pool: ConnectionPool) throws -> Finding {
      let before = next
      var parameters = Parameters()
      parameters.add(Int64(bitPattern: before ?? .max >> 1))
      parameters.add(uuid: client)
      let answer = try pool.run(
        """
        SELECT w.least, w.last, c.number IS NOT NULL, c.changes
        FROM (SELECT pg_snapshot_xmin(s)::text::bigint AS least, pg_snapshot_xmax(s)::text::bigint AS last
          FROM pg_current_snapshot() s) w
        LEFT JOIN cairn_saves c
          ON c.transaction >= $1::text::xid8 AND c.transaction < w.least::text::xid8 AND c.client <> $2
        LIMIT \(Self.mostSaves)
        """, parameters)
      let now = ContinuousClock.now
      defer { lastLook = now }
      let (least, last) = (UInt64(bitPattern: answer.integer(0, 0)), UInt64(bitPattern: answer.integer(0, 1)))
      waitingSince = least < last && least == before ? waitingSince ?? now : nil
      next = least
      guard let before else { return .changes([]) }
      // A server that was put back to an earlier state gives numbers again.
      guard least >= before, answer.count < Self.mostSaves, now - lastLook < Self.memory else { return .everything }
      var changes: [SavedChanges] = []
      for row in 0..<answer.count where answer.bool(row, 2) {
        guard !answer.isNull(row, 3), let found = try? SavedChanges(answer.bytes(row, 3)) else { return .everything }
        changes.append(found)
      }
      return .changes(changes)
    }
  }
#endif
