#if PostgreSQL
  import IncrementalStore
  import RowFormat

  /// Compares the columns of a store with the bytes beside them.
  struct Verification {
    private let place: PostgreSQLPlace
    private let pool: ConnectionPool
    private let known: KnownLayout
    private let report: (String) throws -> Void

    /// - Parameter report: Called with each difference.
    init(
      _ place: PostgreSQLPlace, _ pool: ConnectionPool, _ known: KnownLayout,
      _ report: @escaping (String) throws -> Void
    ) {
      (self.place, self.pool, self.known, self.report) = (place, pool, known, report)
    }

    func run() throws {
      for table in known.layout.tables.values.sorted(by: { $0.entity < $1.entity }) {
        try check(table.name) { try checkRows(of: table, $0) }
      }
      try check("cairn_members", checkMembers)
    }

    /// Checks a table in a transaction of its own.
    private func check(_ name: String, _ body: (Connection) throws -> Void) throws {
      let connection = try pool.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      defer { pool.end(connection) }
      do {
        try body(connection)
      } catch let error as PostgreSQLError {
        // A table or a column is missing, or has another type.
        guard error.state.hasPrefix("42") else { throw error }
        try report("\(name): \(error.message)")
      }
    }

    private func checkRows(of table: Layout.Table, _ connection: Connection) throws {
      let rows = RowTable(table, known.layout.kind)
      let names =
        [Layout.RowColumn.isInexact] + table.serverColumns(known.layout.kind).map(\.name)
      try PageReader(connection).forEachPage(of: rows, from: nil) { page in
        let readable = try page.filter { row in
          do {
            var values = ColumnValues(count: names.count - 1)
            try values.add(row.bytes, table.columns, known.completions[table.entity])
            return true
          } catch let damage as RowDamage {
            try report("\(table.name) \(row.reference): the row is damaged: \(damage)")
            return false
          }
        }
        let statement = try rows.comparison(known.completions[table.entity], readable)
        let answer = try connection.run(statement.text, statement.parameters)
        for place in 0..<answer.count {
          let reference = try rows.reference(answer.bytes(place, 0))
          for (column, name) in names.enumerated() where answer.bool(place, column + 1) {
            try report("\(table.name) \(reference): the column \(name) has not what the row has")
          }
        }
        return true
      }
    }

    private func checkMembers(_ connection: Connection) throws {
      var last: [UInt8] = []
      while true {
        var parameters = Parameters()
        parameters.add(last)
        let answer = try connection.run(
          """
          SELECT entry, relationship, owner, position, entity, member FROM cairn_members
          WHERE entry > $1 ORDER BY entry LIMIT 4096
          """, parameters)
        for place in 0..<answer.count {
          let entry = answer.bytes(place, 0)
          let hexadecimal = entry.hexadecimal
          guard let member = try? Member(entry, known.layout) else {
            try report("cairn_members \(hexadecimal): the entry is damaged")
            continue
          }
          let isRight =
            answer.integer(place, 1) == Int64(member.relationship)
            && answer.bytes(place, 2) == member.owner.columnBytes
            && (member.position.map { answer.integer(place, 3) == $0 } ?? answer.isNull(place, 3))
            && answer.integer(place, 4) == Int64(member.member.entity)
            && answer.bytes(place, 5) == member.member.reference.columnBytes
          if !isRight { try report("cairn_members \(hexadecimal): the columns have not what the entry has") }
        }
        guard answer.count == 4096 else { return }
        last = answer.bytes(4095, 0)
      }
    }
  }
#endif
