#if PostgreSQL
  import IncrementalStore

  /// Writes the changes of a save within its transaction, with a number of statements that does not depend on how many
  /// rows there are, up to a size.
  struct RowWriter {
    /// How many bytes of rows or entries a statement has at most, more or less.
    private static let statementBytes = 8 << 20

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// A statement of a save.
    private struct Statement {
      let text: String
      private(set) var parameters = Parameters()
      /// How many rows it must change; nil if that does not matter.
      private(set) var count: Int?

      init(noting number: UInt128) {
        text = """
          INSERT INTO cairn_saves (number, revision) VALUES ($1, nextval('cairn_revisions'))
          ON CONFLICT (number) DO NOTHING RETURNING revision
          """
        parameters.add(uuid: number)
      }

      init(rows: ArraySlice<RowChanges.Row>, hasBytes: Bool, _ text: String) {
        self.text = text
        parameters.add(rows.map(\.table))
        parameters.add(rows.map(\.reference.ordered))
        if hasBytes { parameters.add(rows.map(\.bytes)) }
        count = rows.count
      }

      init(entries: ArraySlice<[UInt8]>, _ text: String) {
        self.text = text
        let split = entries.map { SplitEntry($0) }
        parameters.add(split.map(\.head))
        parameters.add(split.map(\.tail))
      }
    }

    /// Notes the number of a save. If it is noted already, the save was made with that revision.
    func note(_ number: UInt128) throws(PostgreSQLError) -> (revision: UInt64, isMade: Bool) {
      let statement = Statement(noting: number)
      let answer = try connection.run(statement.text, statement.parameters)
      if answer.count > 0 { return (UInt64(bitPattern: answer.integer(0, 0)), false) }
      let made = try connection.run("SELECT revision FROM cairn_saves WHERE number = $1", statement.parameters)
      guard made.count > 0 else {
        throw PostgreSQLError(state: "40001", message: "The number of a save has been removed meanwhile.")
      }
      return (UInt64(bitPattern: made.integer(0, 0)), true)
    }

    /// Writes all changes, and notes the number of the save unless that is done. Returns the revision.
    ///
    /// - Throws: A conflict if a row is missing, which can only be if somebody else has removed it.
    func write(_ changes: RowChanges, _ number: UInt128, _ revision: UInt64?) throws -> UInt64 {
      var statements: [Statement] = []
      if revision == nil { statements.append(Statement(noting: number)) }
      add(rowsOf: changes, to: &statements)
      for part in Self.parts(of: changes.removedEntries, { $0.count }) {
        statements.append(
          Statement(
            entries: part,
            """
            DELETE FROM cairn_entries e USING unnest($1, $2) AS n (head, tail) WHERE e.head = n.head AND e.tail = n.tail
            """))
      }
      for part in Self.parts(of: changes.addedEntries, { $0.count }) {
        statements.append(
          Statement(
            entries: part,
            """
            INSERT INTO cairn_entries (head, tail) SELECT n.head, n.tail FROM unnest($1, $2) AS n (head, tail)
            ON CONFLICT DO NOTHING
            """))
      }
      let answers = try connection.run(statements.map { ($0.text, $0.parameters) })
      for (statement, answer) in zip(statements, answers) {
        guard statement.count.map({ $0 == answer.changedCount }) ?? true else {
          throw PostgreSQLError(state: "40001", message: "A row of a save has been removed meanwhile.")
        }
      }
      guard let first = answers.first, revision == nil else { return revision ?? 0 }
      guard first.count == 1 else {
        throw PostgreSQLError(state: "40001", message: "The number of a save is taken.")
      }
      return UInt64(bitPattern: first.integer(0, 0))
    }

    private func add(rowsOf changes: RowChanges, to statements: inout [Statement]) {
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
      // The revision of the save is the last that this connection has taken.
      let all = [
        (
          deleted, false,
          """
          DELETE FROM cairn_rows r USING unnest($1, $2) AS n (entity, reference)
          WHERE r.entity = n.entity AND r.reference = n.reference
          """
        ),
        (
          inserted, true,
          """
          INSERT INTO cairn_rows (entity, reference, bytes, version, revision)
          SELECT n.entity, n.reference, n.bytes, 1, currval('cairn_revisions')
          FROM unnest($1, $2, $3) AS n (entity, reference, bytes)
          """
        ),
        (
          updated, true,
          """
          UPDATE cairn_rows r SET bytes = n.bytes, version = r.version + 1, revision = currval('cairn_revisions')
          FROM unnest($1, $2, $3) AS n (entity, reference, bytes)
          WHERE r.entity = n.entity AND r.reference = n.reference
          """
        ),
        (
          touched, false,
          """
          UPDATE cairn_rows r SET version = r.version + 1, revision = currval('cairn_revisions')
          FROM unnest($1, $2) AS n (entity, reference) WHERE r.entity = n.entity AND r.reference = n.reference
          """
        ),
      ]
      for (rows, hasBytes, text) in all {
        for part in Self.parts(of: rows, { $0.byteCount }) {
          statements.append(Statement(rows: part, hasBytes: hasBytes, text))
        }
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
