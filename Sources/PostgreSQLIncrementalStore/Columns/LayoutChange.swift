#if PostgreSQL
  import RowFormat

  /// Changes the tables of a store from one schema to another, in the transaction that changes the schema.
  struct LayoutChange {
    private let connection: Connection
    private let (old, new): (Schema, Schema)
    private let (before, after): (Layout, Layout)

    init(_ connection: Connection, from old: Schema, to new: Schema, _ kind: RowReferenceKind) {
      self.connection = connection
      (self.old, self.new) = (old, new)
      (before, after) = (Layout(old, kind), Layout(new, kind))
    }

    /// Makes the changes. Takes as long as reading and writing the rows of the entities of which a column has to be
    /// filled from the bytes.
    func make() throws {
      let completions = new.completions
      guard before != after || old.completionValues != new.completionValues else { return }
      let views = before.views(old)
      var statements = views.keys.sorted().map { "DROP VIEW IF EXISTS \(Connection.quoted($0))" }
      let (oldIndexes, newIndexes) = (before.indexDefinitions, after.indexDefinitions)
      for name in oldIndexes.keys.sorted() where newIndexes[name] == nil {
        statements.append("DROP INDEX IF EXISTS \(Connection.quoted(name))")
      }
      for number in before.tables.keys.sorted() where after.tables[number] == nil {
        if let table = before.tables[number] { statements.append("DROP TABLE \(table.quoted)") }
      }
      statements += renamedTables()
      var filled: [(table: Layout.Table, columns: [Layout.Column])] = []
      for number in after.tables.keys.sorted() {
        guard let table = after.tables[number] else { continue }
        if let former = before.tables[number] {
          let columns = change(former, to: table, &statements)
          if !columns.isEmpty { filled.append((table, columns)) }
        } else {
          statements.append(after.creation(of: table))
          statements.append(movedRows(to: table))
          filled.append((table, table.columns))
        }
      }
      statements += removedEntries()
      try run(statements)
      for (table, columns) in filled { try fill(columns, of: table, completions[table.entity]) }
      // After the rows, so that an index is built once.
      try run(
        newIndexes.keys.sorted().filter { oldIndexes[$0] == nil }.map { name in
          "CREATE INDEX \(Connection.quoted(name)) \(newIndexes[name] ?? "")"
        } + [after.catalogue(new)]
          + after.views(new).sorted { $0.key < $1.key }.map {
            "CREATE VIEW \(Connection.quoted($0.key)) AS \($0.value)"
          })
    }

    private func run(_ statements: [String]) throws {
      guard !statements.isEmpty else { return }
      try connection.run(statements.joined(separator: ";\n"))
    }

    /// Tables and columns can swap their names, so each gets a name of its own in between.
    private func renamedTables() -> [String] {
      let renamed = after.tables.values.compactMap { table in
        before.tables[table.entity].flatMap { $0.name == table.name ? nil : ($0, table) }
      }.sorted { $0.1.entity < $1.1.entity }
      return renamed.map { "ALTER TABLE \($0.quoted) RENAME TO cairn_renamed_\($1.entity)" }
        + renamed.map { "ALTER TABLE cairn_renamed_\($1.entity) RENAME TO \($1.quoted)" }
    }

    private func change(
      _ former: Layout.Table, to table: Layout.Table, _ statements: inout [String]
    ) -> [Layout.Column] {
      let (kind, name) = (after.kind, table.quoted)
      func names(_ column: Layout.Column) -> [String] { column.serverColumns(kind).map(\.quoted) }
      var renamed: [(from: [String], to: [String])] = []
      var filled: [Layout.Column] = []
      for column in former.columns {
        let kept = table.columns.first { $0.property == column.property && $0.kind.isSameColumn(as: column.kind) }
        if let kept {
          if kept.name != column.name { renamed.append((names(column), names(kept))) }
        } else {
          statements += names(column).map { "ALTER TABLE \(name) DROP COLUMN \($0)" }
        }
      }
      for (place, names) in renamed.enumerated() {
        for (part, former) in names.from.enumerated() {
          statements.append("ALTER TABLE \(name) RENAME COLUMN \(former) TO cairn_renamed_\(place)_\(part)")
        }
      }
      for (place, names) in renamed.enumerated() {
        for (part, new) in names.to.enumerated() {
          statements.append("ALTER TABLE \(name) RENAME COLUMN cairn_renamed_\(place)_\(part) TO \(new)")
        }
      }
      for column in table.columns {
        let former = former.columns.first { $0.property == column.property && $0.kind.isSameColumn(as: column.kind) }
        if former == nil {
          statements += after.definitions(of: column).map { "ALTER TABLE \(name) ADD COLUMN \($0)" }
        }
        // Rows have a field of the property only if its number was given out before this change.
        let mayHaveFields = column.property < old.nextNumber
        let values = new.values(of: column.property)
        if former == nil, !mayHaveFields {
          if let value = values.absent ?? values.null { statements += filling(column, of: table, with: value) }
        } else if former != nil, let value = values.null, old.values(of: column.property) == .none, values.absent == nil
        {
          statements += filling(column, of: table, with: value).map { "\($0) WHERE \(column.quoted) IS NULL" }
        } else if former == nil || old.values(of: column.property) != values {
          filled.append(column)
        }
      }
      return filled
    }

    /// Gives all rows without a value the same one.
    private func filling(_ column: Layout.Column, of table: Layout.Table, with value: Schema.StoredField) -> [String] {
      guard let stored = try? StoredValue(value.field, in: value.content) else { return [] }
      let columns = column.serverColumns(after.kind)
      let values = ColumnValues(stored, column, count: columns.count)
      let assignments = zip(columns, values.arrays).compactMap { column, value in
        value.onlyValue.map { "\(column.quoted) = \(column.literal($0))" }
      }
      guard !assignments.isEmpty else { return [] }
      return ["UPDATE \(table.quoted) SET \(assignments.joined(separator: ", "))"]
    }

    /// Moves the rows of an entity that was not known as one.
    private func movedRows(to table: Layout.Table) -> String {
      let entity = Int32(bitPattern: table.entity)
      // References as STORE-FORMAT.md, section 2, encodes them.
      let reference =
        after.kind == .uuid
        ? "encode(substring(reference FROM 2), 'hex')::uuid"
        : """
        CASE WHEN get_byte(reference, 0) >= 32
          THEN ('x' || lpad(encode(substring(reference FROM 2), 'hex'), 16, '0'))::bit(64)::bigint
          ELSE ('x' || lpad(encode(substring(reference FROM 2), 'hex'), 16, 'f'))::bit(64)::bigint END
        """
      return """
        INSERT INTO \(table.quoted) (\(Layout.RowColumn.reference), \(Layout.RowColumn.version),
          \(Layout.RowColumn.revision), \(Layout.RowColumn.bytes), \(Layout.RowColumn.isInexact))
        SELECT \(reference), version, revision, bytes, false FROM cairn_rows WHERE entity = \(entity);
        DELETE FROM cairn_rows WHERE entity = \(entity)
        """
    }

    /// Entries of what the new schema does not have would not be found any more.
    private func removedEntries() -> [String] {
      var statements = before.relationships.keys.filter { after.relationships[$0] == nil }.sorted().map {
        "DELETE FROM cairn_members WHERE relationship = \($0)"
      }
      for number in before.constraints.subtracting(after.constraints).sorted() {
        let prefix = Entry.all(of: number)
        let successor = Entry.successor(of: prefix) ?? []
        statements.append(
          "DELETE FROM cairn_keys WHERE key >= '\\x\(prefix.hexadecimal)' AND key < '\\x\(successor.hexadecimal)'")
      }
      return statements
    }

    /// Fills columns from the bytes of all rows.
    private func fill(_ columns: [Layout.Column], of table: Layout.Table, _ completion: RowCompletion?) throws {
      guard !columns.isEmpty else { return }
      let target = RowTable(table, after.kind)
      let reader = PageReader(connection)
      try reader.forEachPage(of: target, from: nil) { rows in
        let statement = try target.fill(columns, completion, rows)
        try connection.run(statement.text, statement.parameters)
        return true
      }
    }
  }

  extension ColumnKind {
    /// Whether a column of the server can stay as it is.
    fileprivate func isSameColumn(as other: ColumnKind) -> Bool {
      if case (.toOne, .toOne) = (self, other) { return true }
      return self == other
    }
  }

  extension Schema {
    /// What rows have that lack a property, or have null for it.
    fileprivate struct CompletionValues: Hashable {
      let absent: StoredField?
      let null: StoredField?

      static let none = CompletionValues(absent: nil, null: nil)
    }

    fileprivate func values(of property: UInt32) -> CompletionValues { completionValues[property] ?? .none }

    fileprivate var completionValues: [UInt32: CompletionValues] {
      var values: [UInt32: CompletionValues] = [:]
      for property in entities.flatMap(\.properties) where property.valueIfAbsent != nil || property.valueIfNull != nil
      {
        values[property.number] = CompletionValues(absent: property.valueIfAbsent, null: property.valueIfNull)
      }
      return values
    }
  }

  extension [UInt8] {
    var hexadecimal: String {
      map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
  }

  extension ServerColumn {
    /// A value in PostgreSQL's binary format as a literal.
    fileprivate func literal(_ bytes: [UInt8]) -> String {
      typealias Number = Parameters.TypeNumber
      switch element {
      case Number.bool: return bytes == [1] ? "true" : "false"
      case Number.int8: return "\(Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))"
      case Number.float8:
        let value = Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
        return value.isNaN ? "'NaN'" : value.isInfinite ? (value < 0 ? "'-Infinity'" : "'Infinity'") : "\(value)"
      case Number.uuid: return "'\(bytes.hexadecimal)'"
      case Number.bytea: return "'\\x\(bytes.hexadecimal)'"
      default: return Layout.literal(String(decoding: bytes, as: UTF8.self))
      }
    }
  }
#endif
