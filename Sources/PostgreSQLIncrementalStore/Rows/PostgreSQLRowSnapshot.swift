#if PostgreSQL
  import IncrementalStore
  import RowFormat

  /// What a transaction sees. It reads by pages, so that other reads can take place between them.
  final class PostgreSQLRowSnapshot: RowSnapshot {
    private let connection: Connection
    private let place: PostgreSQLPlace
    private let layouts: LayoutCache
    private let end: (Connection) -> Void
    /// The layout that the transaction sees, as far as it is known.
    private(set) var layout: KnownLayout

    /// - Parameters:
    ///   - connection: Has begun a transaction in which nothing has been read yet.
    ///   - end: Called when nobody needs the snapshot any more.
    init(
      _ connection: Connection, _ place: PostgreSQLPlace, _ layouts: LayoutCache,
      end: @escaping (Connection) -> Void
    ) {
      (self.connection, self.place, self.layouts) = (connection, place, layouts)
      layout = layouts.current
      self.end = end
    }

    deinit { end(connection) }

    var isRemote: Bool { true }

    private func run(_ statement: String, _ parameters: Parameters) throws -> Answer {
      try place.translating { try connection.run(statement, parameters) }
    }

    /// Runs a statement that is not likely to be run again.
    func runOnce(_ statement: String, _ parameters: Parameters) throws -> Answer {
      try place.translating { try connection.runOnce(statement, parameters) }
    }

    // MARK: Rows

    func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
      try rows([reference], in: table)[0]
    }

    func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
      let table = RowTable(table, in: layout.layout)
      var parameters = Parameters()
      table.add(references.filter { table.canHave($0) }, to: &parameters)
      let answer = try run(table.selection(where: "r.\(table.reference) = ANY($1)"), parameters)
      var found: [RowReference: StoredRow] = [:]
      for place in 0..<answer.count {
        let row = try table.row(in: answer, place)
        found[row.reference] = row
        note(row, table.number)
      }
      return references.map { found[$0] }
    }

    /// The schema tells in which tables the transaction finds rows and entries. Requests read it first.
    private func note(_ row: StoredRow, _ table: UInt32) {
      guard table == StoreHead.table, row.reference == StoreHead.schemaReference, row.revision != layout.revision
      else { return }
      // A schema that is damaged is an error of whoever reads it.
      guard let schema = try? Schema(row.bytes) else { return }
      layout = KnownLayout(schema, row.revision, layout.layout.kind)
      layouts.note(layout)
    }

    func forEachRow(
      in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool
    ) throws {
      let table = RowTable(table, in: layout.layout)
      var first = first
      if let start = first, !table.canHave(start) {
        // References of one kind come before all of another one.
        let kind = layout.layout.kind
        guard start < (kind == .uuid ? .uuid(.min) : .integer(.min)) else { return }
        first = nil
      }
      try place.translating {
        try PageReader(connection).forEachPage(of: table, from: first) { rows in
          for var row in rows {
            guard try body(&row) else { return false }
          }
          return true
        }
      }
    }

    func count(in table: UInt32) throws -> Int {
      Int(try run(RowTable(table, in: layout.layout).counting(), Parameters()).integer(0, 0))
    }

    // MARK: Entries

    /// The tables that may have entries between two bounds, which is one unless the entries have different numbers.
    private func tables(from lower: [UInt8], before upper: [UInt8]?) -> [EntryTable] {
      var input = ByteInput(lower)
      guard let number = try? input.number(), let upper, let end = Entry.successor(of: Entry.all(of: number)),
        !end.lexicographicallyPrecedes(upper)
      else { return EntryTable.allCases }
      return [EntryTable(number, layout.layout)]
    }

    func forEachEntry(
      from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
    ) throws {
      var (low, high) = (lower, upper)
      var isLowIncluded = true
      let tables = tables(from: lower, before: upper)
      // Most callers read few entries or all.
      var count = 64
      while true {
        let found = try entries(tables, low, isLowIncluded, high, reverse, count)
        for entry in found { guard try body(entry) else { return } }
        guard found.count == count, let last = found.last else { return }
        if reverse { high = last } else { (low, isLowIncluded) = (last, false) }
        count = min(4 * count, 4096)
      }
    }

    private func entries(
      _ tables: [EntryTable], _ low: [UInt8], _ isLowIncluded: Bool, _ high: [UInt8]?, _ reverse: Bool, _ count: Int
    ) throws -> [[UInt8]] {
      let direction = reverse ? "DESC" : "ASC"
      var found: [[UInt8]] = []
      for table in tables {
        var parameters = Parameters()
        parameters.add(Int64(count))
        /// A bound as an expression, and its first column's.
        func sent(_ bound: [UInt8]) -> (first: String, all: String) {
          let start = parameters.types.count + 1
          for part in table.split(bound) { parameters.add(part) }
          let all = (start..<start + table.columns.count).map { "$\($0)" }.joined(separator: ", ")
          return ("$\(start)", "(\(all))")
        }
        let (first, all) = (table.columns[0], "(\(table.columns.joined(separator: ", ")))")
        let low = sent(low)
        var condition = "\(first) >= \(low.first) AND \(all) \(isLowIncluded ? ">=" : ">") \(low.all)"
        if let high {
          let high = sent(high)
          condition += " AND \(first) <= \(high.first) AND \(all) < \(high.all)"
        }
        let order = table.columns.map { "\($0) \(direction)" }.joined(separator: ", ")
        let answer = try run(
          "SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name) WHERE \(condition) ORDER BY \(order) LIMIT $1",
          parameters)
        found += (0..<answer.count).map { answer.entry($0, from: 0, table) }
      }
      guard tables.count > 1 else { return found }
      found.sort { reverse ? $1.lexicographicallyPrecedes($0) : $0.lexicographicallyPrecedes($1) }
      return Array(found.prefix(count))
    }

    func entries(beginningWith prefixes: [[UInt8]], limit: Int) throws -> [[[UInt8]]] {
      guard limit > 0 else { return prefixes.map { _ in [] } }
      var found: [[[UInt8]]] = prefixes.map { _ in [] }
      var bulk: [EntryTable: [Int]] = [:]
      for (place, prefix) in prefixes.enumerated() {
        let tables = tables(from: prefix, before: Entry.successor(of: prefix))
        // Those that an index cannot tell apart by their first column are read one by one.
        guard tables.count == 1, tables[0].isInFirstColumn(prefix) else {
          try forEachEntry(beginningWith: prefix) { entry in
            found[place].append(entry)
            return found[place].count < limit
          }
          continue
        }
        bulk[tables[0], default: []].append(place)
      }
      for (table, places) in bulk {
        var parameters = Parameters()
        parameters.add(places.map { prefixes[$0] })
        parameters.add(places.map { Entry.successor(of: prefixes[$0]) ?? [] })
        parameters.add(Int64(limit))
        let names = table.columns.joined(separator: ", ")
        let selected = table.columns.map { "e.\($0)" }.joined(separator: ", ")
        let answer = try run(
          """
          SELECT p.place, \(selected)
          FROM unnest($1, $2) WITH ORDINALITY AS p (low, high, place)
          CROSS JOIN LATERAL (
            SELECT \(names) FROM \(table.name) WHERE \(table.columns[0]) >= p.low AND \(table.columns[0]) < p.high
            ORDER BY \(names) LIMIT $3
          ) e
          ORDER BY p.place, \(selected)
          """, parameters)
        for row in 0..<answer.count {
          found[places[Int(answer.integer(row, 0)) - 1]].append(answer.entry(row, from: 1, table))
        }
      }
      return found
    }
  }

  extension Answer {
    /// An entry in the columns of its table.
    fileprivate func entry(_ row: Int, from column: Int, _ table: EntryTable) -> [UInt8] {
      table.columns.indices.reduce(into: []) { $0 += bytes(row, column + $1) }
    }
  }
#endif
