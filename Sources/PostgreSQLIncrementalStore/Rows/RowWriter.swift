#if PostgreSQL
  import IncrementalStore

  /// Writes the changes of a save within its transaction, with a number of statements that does not depend on how many
  /// rows there are, up to a size.
  struct RowWriter {
    /// How many bytes of rows or entries a statement has at most, more or less.
    private static let statementBytes = 8 << 20

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Notes the number of a save. If it is noted already, the save was made with that revision.
    func note(_ number: UInt128) throws(PostgreSQLError) -> (revision: UInt64, isMade: Bool) {
      var parameters = Parameters()
      parameters.add(uuid: number)
      let answer = try connection.run(
        """
        INSERT INTO cairn_saves (number, revision) VALUES ($1, nextval('cairn_revisions'))
        ON CONFLICT (number) DO NOTHING RETURNING revision
        """, parameters)
      if answer.count > 0 { return (UInt64(bitPattern: answer.integer(0, 0)), false) }
      let made = try connection.run("SELECT revision FROM cairn_saves WHERE number = $1", parameters)
      guard made.count > 0 else {
        throw PostgreSQLError(state: "40001", message: "The number of a save has been removed meanwhile.")
      }
      return (UInt64(bitPattern: made.integer(0, 0)), true)
    }

    func write(_ changes: RowChanges, _ revision: UInt64) throws {
      var (inserted, updated): ([RowChanges.Row], [RowChanges.Row]) = ([], [])
      var (touched, deleted): ([RowChanges.Row], [RowChanges.Row]) = ([], [])
      for row in changes.rows {
        switch (row.change, row.revision) {
        case (.put, nil): inserted.append(row)
        case (.put, _): updated.append(row)
        case (.touch, nil), (.delete, nil): break
        case (.touch, _): touched.append(row)
        case (.delete, _): deleted.append(row)
        }
      }
      try write(
        deleted, nil,
        """
        DELETE FROM cairn_rows r USING unnest($1, $2) AS n (entity, reference)
        WHERE r.entity = n.entity AND r.reference = n.reference
        """)
      try write(
        inserted, revision,
        """
        INSERT INTO cairn_rows (entity, reference, bytes, version, revision)
        SELECT n.entity, n.reference, n.bytes, 1, $3 FROM unnest($1, $2, $4) AS n (entity, reference, bytes)
        """)
      try write(
        updated, revision,
        """
        UPDATE cairn_rows r SET bytes = n.bytes, version = r.version + 1, revision = $3
        FROM unnest($1, $2, $4) AS n (entity, reference, bytes)
        WHERE r.entity = n.entity AND r.reference = n.reference
        """)
      try write(
        touched, revision,
        """
        UPDATE cairn_rows r SET version = r.version + 1, revision = $3 FROM unnest($1, $2) AS n (entity, reference)
        WHERE r.entity = n.entity AND r.reference = n.reference
        """, hasBytes: false)
      try write(
        changes.removedEntries,
        """
        DELETE FROM cairn_entries e USING unnest($1, $2) AS n (head, tail) WHERE e.head = n.head AND e.tail = n.tail
        """)
      try write(
        changes.addedEntries,
        """
        INSERT INTO cairn_entries (head, tail) SELECT n.head, n.tail FROM unnest($1, $2) AS n (head, tail)
        ON CONFLICT DO NOTHING
        """)
    }

    /// - Throws: A conflict if a row is missing, which can only be if somebody else has removed it.
    private func write(
      _ rows: [RowChanges.Row], _ revision: UInt64?, _ statement: String, hasBytes: Bool = true
    ) throws(PostgreSQLError) {
      for part in Self.parts(of: rows, { $0.byteCount }) {
        var parameters = Parameters()
        parameters.add(part.map(\.table))
        parameters.add(part.map(\.reference.ordered))
        if let revision {
          parameters.add(Int64(bitPattern: revision))
          if hasBytes { parameters.add(part.map(\.bytes)) }
        }
        let answer = try connection.run(statement, parameters)
        guard answer.changedCount == part.count else {
          throw PostgreSQLError(state: "40001", message: "A row of a save has been removed meanwhile.")
        }
      }
    }

    private func write(_ entries: [[UInt8]], _ statement: String) throws(PostgreSQLError) {
      for part in Self.parts(of: entries, { $0.count }) {
        let split = part.map { SplitEntry($0) }
        var parameters = Parameters()
        parameters.add(split.map(\.head))
        parameters.add(split.map(\.tail))
        try connection.run(statement, parameters)
      }
    }

    private static func parts<Element>(of all: [Element], _ size: (Element) -> Int) -> [ArraySlice<Element>] {
      var parts: [ArraySlice<Element>] = []
      var (start, bytes) = (0, 0)
      for (place, element) in all.enumerated() {
        bytes += size(element) + 32
        if bytes > statementBytes, place > start {
          parts.append(all[start..<place])
          (start, bytes) = (place, size(element) + 32)
        }
      }
      if start < all.count { parts.append(all[start...]) }
      return parts
    }
  }

  extension RowChanges.Row {
    fileprivate var bytes: [UInt8] {
      if case .put(let bytes) = change { return bytes }
      return []
    }

    fileprivate var byteCount: Int {
      if case .put(let bytes) = change { return bytes.count }
      return 0
    }
  }
#endif
