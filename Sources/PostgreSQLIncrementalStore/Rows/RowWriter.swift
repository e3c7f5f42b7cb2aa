#if PostgreSQL
  import IncrementalStore
  import RowFormat

  /// Writes the changes of a save within its transaction, with a number of statements that depends on how many entities
  /// the rows have, and not on how many rows there are, up to a size.
  struct RowWriter {
    /// How many bytes of rows or entries a statement has at most, more or less.
    private static let statementBytes = 8 << 20

    private let connection: Connection
    /// The number of the store that saves.
    private let client: UInt128

    init(_ connection: Connection, _ client: UInt128) { (self.connection, self.client) = (connection, client) }

    /// Fails if the number is noted already, unless `isAgain`: then the statement returns nothing.
    private func noting(_ number: UInt128, _ changes: [UInt8]?, isAgain: Bool = false) -> Statement {
      var statement = Statement(
        text: """
          INSERT INTO cairn_saves (number, client, revision, changes)
          VALUES ($1, $2, nextval('cairn_revisions'), \(changes == nil ? "NULL" : "$3"))
          \(isAgain ? "ON CONFLICT (number) DO NOTHING" : "") RETURNING revision
          """)
      statement.parameters.add(uuid: number)
      statement.parameters.add(uuid: client)
      if let changes { statement.parameters.add(changes) }
      return statement
    }

    private static func noting(_ changes: [UInt8]?, of number: UInt128) -> Statement {
      var statement = Statement(
        text: "UPDATE cairn_saves SET changes = \(changes == nil ? "NULL" : "$2") WHERE number = $1")
      statement.parameters.add(uuid: number)
      if let changes { statement.parameters.add(changes) }
      return statement
    }

    /// Notes the number of a save. If it is noted already, the save was made with that revision.
    func note(_ number: UInt128) throws -> (revision: UInt64, isMade: Bool) {
      let statement = noting(number, nil, isAgain: true)
      let answer = try connection.run(statement.text, statement.parameters)
      if answer.count > 0 { return (UInt64(bitPattern: answer.integer(0, 0)), false) }
      var parameters = Parameters()
      parameters.add(uuid: number)
      let made = try connection.run("SELECT revision FROM cairn_saves WHERE number = $1", parameters)
      guard made.count > 0 else {
        throw PostgreSQLError(state: "40001", message: "The number of a save has been removed meanwhile.")
      }
      return (UInt64(bitPattern: made.integer(0, 0)), true)
    }

    /// Writes all changes, notes the number of the save unless that is done, and commits. Returns the revision, and the
    /// layout if it has changed.
    ///
    /// - Parameters:
    ///   - known: The layout that the transaction sees.
    ///   - expectation: Fails if the changes were planned for another layout; nil if that is certain.
    /// - Throws: A conflict if a row that is changed is missing or has another revision: somebody else has changed it.
    func write(
      _ changes: RowChanges, _ number: UInt128, _ revision: UInt64?, _ known: KnownLayout,
      _ expectation: Statement?
    ) throws -> (revision: UInt64, layout: KnownLayout?) {
      let changed = try changedLayout(changes, known)
      let known = changed ?? known
      let layout = known.layout
      var statements = expectation.map { [$0] } ?? []
      let place = statements.count
      let objects = SavedChanges.bytes(of: changes, layout)
      statements.append(revision == nil ? noting(number, objects) : Self.noting(objects, of: number))
      try add(rowsOf: changes, known, to: &statements)
      try forEachTable(of: changes.removedEntries, layout) { statements.append($0.deletion($1)) }
      try forEachTable(of: changes.addedEntries, layout) { statements.append(try $0.insertion($1, layout)) }
      let made: Answer
      do {
        made = try connection.run(statements, commits: true)[place]
      } catch let error as PostgreSQLError where error.state == Statement.wrongRows {
        throw PostgreSQLError(
          state: "40001", message: "A row of a save has been changed, or a key taken, by somebody else.")
      }
      let saved = revision ?? UInt64(bitPattern: made.integer(0, 0))
      return (saved, changed.map { KnownLayout($0.schema, saved, layout.kind) })
    }

    /// Changes the tables, if a save changes the schema. Returns the layout that the rows of the save are to be written
    /// with, with the revision of the row that is still there; nil if the schema stays.
    private func changedLayout(_ changes: RowChanges, _ known: KnownLayout) throws -> KnownLayout? {
      let change = changes.rows.first { $0.table == StoreHead.table && $0.reference == StoreHead.schemaReference }
      guard let change, case .put(let bytes) = change.change else { return nil }
      // Whoever else wants to change the schema waits for this row.
      let answer = try connection.run(
        "\(known.table(StoreHead.table).selection(where: RowTable.isSchema)) FOR UPDATE", Parameters())
      let old = answer.count > 0 ? try Schema(answer.bytes(0, 1)) : Schema()
      let new = try StoreFailure.reading("The schema of a save") { try Schema(bytes) }
      try LayoutChange(connection, from: old, to: new, known.layout.kind).make()
      return KnownLayout(
        new, answer.count > 0 ? UInt64(bitPattern: answer.integer(0, 3)) : 0, known.layout.kind)
    }

    private func add(rowsOf changes: RowChanges, _ known: KnownLayout, to statements: inout [Statement]) throws {
      var deleted: [Statement] = []
      var written: [Statement] = []
      for (number, rows) in Dictionary(grouping: changes.rows, by: \.table).sorted(by: { $0.key < $1.key }) {
        let table = known.table(number)
        let completion = known.completions[number]
        let kinds = ChangeKinds(rows)
        for part in Self.parts(of: kinds.deleted, size: \.byteCount) { deleted.append(try table.deletion(part)) }
        for part in Self.parts(of: kinds.inserted, size: \.byteCount) {
          written.append(try table.insertion(part, completion))
        }
        for part in Self.parts(of: kinds.updated, size: \.byteCount) {
          written.append(try table.update(part, completion))
        }
        for part in Self.parts(of: kinds.touched, size: \.byteCount) { written.append(try table.touch(part)) }
      }
      // The row of the schema is among those that are written, and is compared before.
      statements += deleted + written
    }

    /// The changes to rows by what is done to them. A row that is not there is neither deleted nor touched.
    private struct ChangeKinds {
      private(set) var (inserted, updated): ([RowChanges.Row], [RowChanges.Row]) = ([], [])
      private(set) var (touched, deleted): ([RowChanges.Row], [RowChanges.Row]) = ([], [])

      init(_ rows: [RowChanges.Row]) {
        for row in rows {
          switch (row.change, row.revision) {
          case (.put, nil): inserted.append(row)
          case (.put, _): updated.append(row)
          case (_, nil): break
          case (.touch, _): touched.append(row)
          case (.delete, _): deleted.append(row)
          }
        }
      }
    }

    private func forEachTable(
      of entries: [[UInt8]], _ layout: Layout, _ body: (EntryTable, [[UInt8]]) throws -> Void
    ) throws {
      let groups = Dictionary(grouping: entries) { EntryTable(of: $0, layout) }
      for table in EntryTable.allCases {
        for part in Self.parts(of: groups[table] ?? [], size: \.count) { try body(table, part) }
      }
    }

    /// The elements in parts of about as many bytes as a statement has at most.
    private static func parts<Element>(of all: [Element], size: (Element) -> Int) -> [[Element]] {
      let total = all.reduce(0) { $0 + size($1) + 32 }
      guard total > statementBytes else { return all.isEmpty ? [] : [all] }
      var parts: [[Element]] = []
      var (part, bytes): ([Element], Int) = ([], 0)
      for element in all {
        bytes += size(element) + 32
        if bytes > statementBytes, !part.isEmpty {
          parts.append(part)
          (part, bytes) = ([], size(element) + 32)
        }
        part.append(element)
      }
      return parts + [part]
    }
  }

  extension Statement {
    /// The code of the error of a statement that finds or changes other rows than it must: that of a text that is not a
    /// number, and says what is wrong in the server's log.
    static let wrongRows = "22P02"

    /// An expression of the server that fails with ``wrongRows`` unless a condition is true.
    ///
    /// - Parameter failure: An expression of the text that the server's log has then.
    static func requiring(_ condition: String, _ failure: String) -> String {
      "(CASE WHEN \(condition) THEN '1' ELSE \(failure) END)::integer"
    }

    /// A statement that changes rows, and fails unless it changes as many as its last parameter says.
    ///
    /// - Parameter count: The number of the parameters before the last one.
    static func checkingCount(_ text: String, parameters count: Int) -> String {
      let expected = "$\(count + 1)::bigint"
      let failure = "'Cairn: somebody else has changed or taken ' || \(expected) - count(*) || ' of ' || \(expected)"
      return "WITH w AS (\(text) RETURNING 1) SELECT \(requiring("count(*) = \(expected)", failure)) FROM w"
    }
  }

  extension RowChanges.Row {
    fileprivate var byteCount: Int { bytes.count }
  }
#endif
