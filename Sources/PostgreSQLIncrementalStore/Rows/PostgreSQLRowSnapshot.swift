#if PostgreSQL
  import IncrementalStore

  /// What a transaction sees. It reads by pages, so that other reads can take place between them.
  final class PostgreSQLRowSnapshot: RowSnapshot {
    /// About how many bytes a page of rows has.
    private static let pageBytes = 1 << 20
    private static let pageRows = 16...4096

    private let connection: Connection
    private let place: PostgreSQLPlace
    private let end: (Connection) -> Void

    /// - Parameters:
    ///   - connection: Has begun a transaction in which nothing has been read yet.
    ///   - end: Called when nobody needs the snapshot any more.
    init(_ connection: Connection, _ place: PostgreSQLPlace, end: @escaping (Connection) -> Void) {
      (self.connection, self.place) = (connection, place)
      self.end = end
    }

    deinit { end(connection) }

    var isRemote: Bool { true }

    private func run(_ statement: String, _ parameters: Parameters) throws -> Answer {
      try place.translating { try connection.run(statement, parameters) }
    }

    // MARK: Rows

    /// Reads one row.
    struct RowStatement {
      private let reference: RowReference
      private(set) var parameters = Parameters()
      let text = "SELECT bytes, version, revision FROM cairn_rows WHERE entity = $1 AND reference = $2"

      init(_ reference: RowReference, _ table: UInt32) {
        self.reference = reference
        parameters.add(table)
        parameters.add(reference.ordered)
      }

      func row(in answer: Answer) -> StoredRow? {
        guard answer.count > 0 else { return nil }
        return StoredRow(
          reference: reference, bytes: answer.bytes(0, 0), version: UInt64(bitPattern: answer.integer(0, 1)),
          revision: UInt64(bitPattern: answer.integer(0, 2)))
      }
    }

    func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
      let statement = RowStatement(reference, table)
      return statement.row(in: try run(statement.text, statement.parameters))
    }

    func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
      var parameters = Parameters()
      parameters.add(table)
      parameters.add(references.map(\.ordered))
      let answer = try run(
        "SELECT reference, bytes, version, revision FROM cairn_rows WHERE entity = $1 AND reference = ANY($2)",
        parameters)
      var found: [RowReference: StoredRow] = [:]
      for place in 0..<answer.count {
        let row = try StoredRow(answer, place)
        found[row.reference] = row
      }
      return references.map { found[$0] }
    }

    func forEachRow(
      in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool
    ) throws {
      var next: (reference: [UInt8], isIncluded: Bool) = (first?.ordered ?? [], true)
      var count = Self.pageRows.lowerBound
      while true {
        var parameters = Parameters()
        parameters.add(table)
        parameters.add(next.reference)
        parameters.add(Int64(count))
        let answer = try run(
          """
          SELECT reference, bytes, version, revision FROM cairn_rows
          WHERE entity = $1 AND reference \(next.isIncluded ? ">=" : ">") $2 ORDER BY reference LIMIT $3
          """, parameters)
        var bytes = 0
        for place in 0..<answer.count {
          var row = try StoredRow(answer, place)
          bytes += row.bytes.count
          guard try body(&row) else { return }
        }
        guard answer.count == count else { return }
        next = (answer.bytes(count - 1, 0), false)
        count = min(max(Self.pageBytes / max(1, bytes / count), Self.pageRows.lowerBound), Self.pageRows.upperBound)
      }
    }

    func count(in table: UInt32) throws -> Int {
      var parameters = Parameters()
      parameters.add(table)
      return Int(try run("SELECT count(*) FROM cairn_rows WHERE entity = $1", parameters).integer(0, 0))
    }

    // MARK: Entries

    func forEachEntry(
      from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
    ) throws {
      var (low, high) = (SplitEntry(lower), upper.map { SplitEntry($0) })
      var isLowIncluded = true
      // Most callers read few entries or all.
      var count = 64
      while true {
        var parameters = Parameters()
        parameters.add(Int64(count))
        for bound in [low, high].compactMap(\.self) {
          parameters.add(bound.head)
          parameters.add(bound.tail)
        }
        let direction = reverse ? "DESC" : "ASC"
        let answer = try run(
          """
          SELECT head, tail FROM cairn_entries
          WHERE head >= $2 AND (head, tail) \(isLowIncluded ? ">=" : ">") ($2, $3)
          \(high == nil ? "" : "AND head <= $4 AND (head, tail) < ($4, $5)")
          ORDER BY head \(direction), tail \(direction) LIMIT $1
          """, parameters)
        for place in 0..<answer.count {
          guard try body(answer.bytes(place, 0) + answer.bytes(place, 1)) else { return }
        }
        guard answer.count == count else { return }
        let last = SplitEntry(answer.bytes(count - 1, 0) + answer.bytes(count - 1, 1))
        if reverse { high = last } else { (low, isLowIncluded) = (last, false) }
        count = min(4 * count, 4096)
      }
    }

    func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]] {
      guard limit > 0 else { return prefixes.map { _ in [] } }
      var found: [[[UInt8]]] = prefixes.map { _ in [] }
      let isShort = prefixes.map { $0.count <= Tables.headLength && Entry.successor(of: $0) != nil }
      // Those that an index cannot tell apart by their heads are read one by one.
      for (place, prefix) in prefixes.enumerated() where !isShort[place] {
        try forEachEntry(beginningWith: prefix) { entry in
          found[place].append(entry)
          return found[place].count < limit
        }
      }
      let short = prefixes.indices.filter { isShort[$0] }
      guard !short.isEmpty else { return found }
      var parameters = Parameters()
      parameters.add(short.map { prefixes[$0] })
      parameters.add(short.map { Entry.successor(of: prefixes[$0]) ?? [] })
      parameters.add(Int64(limit))
      let answer = try run(
        """
        SELECT p.place, e.head, e.tail
        FROM unnest($1, $2) WITH ORDINALITY AS p (low, high, place)
        CROSS JOIN LATERAL (
          SELECT head, tail FROM cairn_entries WHERE head >= p.low AND head < p.high ORDER BY head, tail LIMIT $3
        ) e
        ORDER BY p.place, e.head, e.tail
        """, parameters)
      for row in 0..<answer.count {
        found[short[Int(answer.integer(row, 0)) - 1]].append(answer.bytes(row, 1) + answer.bytes(row, 2))
      }
      return found
    }
  }

  extension StoredRow {
    /// - Parameter answer: Has the reference, the bytes, the version and the revision.
    fileprivate init(_ answer: Answer, _ place: Int) throws {
      var input = ByteInput(answer.bytes(place, 0))
      let reference = try StoreFailure.reading("A reference in the table cairn_rows") {
        let reference = try input.reference()
        try input.requireEnd()
        return reference
      }
      self.init(
        reference: reference, bytes: answer.bytes(place, 1), version: UInt64(bitPattern: answer.integer(place, 2)),
        revision: UInt64(bitPattern: answer.integer(place, 3)))
    }
  }

  extension RowReference {
    /// Bytes that compare as the references do.
    var ordered: [UInt8] {
      var output = ByteOutput()
      output.reference(self)
      return output.bytes
    }
  }
#endif
