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
    /// Whether that is certain.
    private var hasReadSchema = false
    /// The rows that somebody expects not to be in table 0, which must also have the schema of the layout. That is
    /// checked with the next statements; nil if there is nothing to check.
    private var absent: [RowReference]?
    /// What has been checked of that.
    private var foundAbsent: [RowReference]?
    private var plansSearches = false
    /// Whether statements can be run: not while answers come, and not once the transaction has ended with the last ones.
    private var isReadable = true

    /// Begins the transaction of a snapshot that is not part of a save.
    static let beginning = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

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

    /// Fails unless table 0 is as somebody expects; nil if nobody expects anything, or it has been checked.
    var expectation: Statement? { absent.map { layout.check(absent: $0) } }

    /// - Parameters:
    ///   - settings: Calls that change the server's settings for the statements and all later ones.
    ///   - first: Statements that are run before. Their answers come first.
    ///   - areLast: Whether the transaction ends with the statements.
    func run(
      _ statements: [Statement], settings: String? = nil, after first: [Statement] = [], areLast: Bool = false
    ) throws -> [Answer] {
      var answers: [Answer] = []
      try run(statements, settings: settings, after: first, areLast: areLast) { answers.append($0) }
      return answers
    }

    /// As ``run(_:settings:after:areLast:)``, but calls a closure with each answer while the server makes the next ones.
    /// The closure must not read.
    func run(
      _ statements: [Statement], settings: String? = nil, after first: [Statement] = [], areLast: Bool,
      _ body: (Answer) throws -> Void
    ) throws {
      // Whoever has said that nothing else is read reads everything again, in a transaction that does not end.
      guard isReadable else { throw SchemaHasChanged() }
      let check = absent.map { layout.check(absent: $0, settings) } ?? settings.map { Statement(text: "SELECT \($0)") }
      do {
        var count = 0
        isReadable = false
        defer { isReadable = !areLast }
        try connection.run(first + (check.map { [$0] } ?? []) + statements, areLast: areLast) { answer in
          defer { count += 1 }
          if check == nil || count != first.count { try body(answer) }
        }
        if absent != nil { (absent, foundAbsent, hasReadSchema) = (nil, absent, true) }
      } catch let error as PostgreSQLError {
        // The tables may have changed since.
        if absent != nil, error.isMissingTable || error.state == Statement.wrongRows { throw SchemaHasChanged() }
        throw place.failure(error)
      }
    }

    private func run(_ statement: String, _ parameters: Parameters) throws -> Answer {
      try run([Statement(text: statement, parameters: parameters)])[0]
    }

    /// Runs statements of a search. The server plans them for the values of their parameters each time: for others, an
    /// index that finds few rows may be no use, and a scan of all rows may be.
    ///
    /// - Parameters:
    ///   - common: Further statements, of which one plan serves all values. Their answers come first.
    ///   - areLast: Whether the transaction ends with the statements, if nothing was read in it before.
    func search(_ statements: [Statement], common: [Statement] = [], areLast: Bool = false) throws -> [Answer] {
      guard !plansSearches else { return try run(common + statements) }
      let plans = "set_config('plan_cache_mode', 'force_custom_plan', true)"
      let answers = try run(
        statements, settings: "\(plans), set_config('enable_seqscan', 'on', true)", after: common,
        areLast: areLast && isUnread)
      plansSearches = true
      return answers
    }

    /// Whether nothing has been read.
    var isUnread: Bool { connection.isToBegin }

    /// Begins another transaction if the first one has ended. What was read in that one counts for nothing.
    ///
    /// - Returns: Whether it had ended.
    @discardableResult
    func beginAgain() -> Bool {
      guard !isReadable else { return false }
      connection.begin(Self.beginning)
      (isReadable, plansSearches, absent) = (true, false, foundAbsent)
      return true
    }

    // MARK: Rows

    func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
      try rows([reference], in: table)[0]
    }

    func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
      try rows([table: references], entriesBeginningWith: [], limit: 0).rows[table] ?? []
    }

    func rows(
      _ references: [UInt32: [RowReference]], entriesBeginningWith prefixes: [[UInt8]], limit: Int
    ) throws -> (rows: [UInt32: [StoredRow?]], entries: [[[UInt8]]]) {
      // Table 0 comes first: it has the schema, which tells in which tables the others are.
      let tables = references.sorted { $0.key < $1.key }.map { (layout.table($0.key), $0.value) }
      let search = EntrySearch(prefixes, layout.layout, limit)
      let answers = try run(tables.map { $0.selection(of: $1) } + search.statements)
      var rows: [UInt32: [StoredRow?]] = [:]
      for ((table, wanted), answer) in zip(tables, answers) {
        let revision = layout.revision
        rows[table.number] = try found(wanted, in: answer, table)
        guard layout.revision == revision else {
          return try self.rows(references, entriesBeginningWith: prefixes, limit: limit)
        }
      }
      var entries = search.entries(in: answers.dropFirst(tables.count))
      for place in search.others {
        try forEachEntry(beginningWith: prefixes[place]) { entry in
          entries[place].append(entry)
          return entries[place].count < limit
        }
      }
      return (rows, entries)
    }

    private func found(_ references: [RowReference], in answer: Answer, _ table: RowTable) throws -> [StoredRow?] {
      var found: [RowReference: StoredRow] = [:]
      for place in 0..<answer.count {
        let row = try table.row(in: answer, place)
        found[row.reference] = row
      }
      if table.number == StoreHead.table, references.contains(StoreHead.schemaReference) {
        noteSchema(found[StoreHead.schemaReference])
      }
      return references.map { found[$0] }
    }

    /// The schema tells in which tables the transaction finds rows and entries. Requests read it first.
    private func noteSchema(_ row: StoredRow?) {
      hasReadSchema = true
      guard (row?.revision ?? 0) != layout.revision else { return }
      // A schema that is damaged is an error of whoever reads it.
      guard let schema = try? row.map({ try Schema($0.bytes) }) ?? Schema() else { return }
      layout = KnownLayout(schema, row?.revision ?? 0, layout.layout.kind)
      layouts.note(layout)
    }

    /// - Throws: A conflict if nobody has read the schema, and it is not the one by which the tables were chosen.
    func checkLayout() throws {
      guard !hasReadSchema, absent == nil else { return }
      let revision = layout.revision
      _ = try row(StoreHead.schemaReference, in: StoreHead.table)
      guard layout.revision == revision else {
        throw PostgreSQLError(
          state: PostgreSQLError.schemaHasChanged, message: "Somebody else has changed the schema of the store.")
      }
    }

    func forEachRow(
      in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool
    ) throws {
      let table = layout.table(table)
      var first = first
      if let start = first, !table.canHave(start) {
        // References of one kind come before all of another one.
        let kind = layout.layout.kind
        guard start < (kind == .uuid ? .uuid(.min) : .integer(.min)) else { return }
        first = nil
      }
      try PageReader(run).forEachPage(of: table, from: first) { rows in
        for var row in rows {
          guard try body(&row) else { return false }
        }
        return true
      }
    }

    func count(in table: UInt32) throws -> Int {
      Int(try search([Statement(text: layout.table(table).counting())])[0].integer(0, 0))
    }

    // MARK: Entries

    func forEachEntry(
      from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
    ) throws {
      var (low, high) = (lower, upper)
      var isLowIncluded = true
      let tables = EntryTable.tables(from: lower, before: upper, layout.layout)
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
      try rows([:], entriesBeginningWith: prefixes, limit: limit).entries
    }
  }

  extension PostgreSQLRowSnapshot: SchemaExpectingSnapshot {
    func expect(schemaRevision: UInt64, absent: [RowReference]) -> Bool {
      guard layout.revision == schemaRevision else { return false }
      self.absent = absent
      return true
    }

    func compareSchema() throws {
      if absent != nil { _ = try run([]) }
    }
  }

  /// Statements that select the entries that begin with one of several prefixes.
  private struct EntrySearch {
    private var places: [(table: EntryTable, places: [Int])] = []
    /// The places of the prefixes that an index cannot tell apart by their first column.
    private(set) var others: [Int] = []
    private(set) var statements: [Statement] = []
    private let count: Int

    /// - Parameter limit: How many entries of a prefix are selected at most.
    init(_ prefixes: [[UInt8]], _ layout: Layout, _ limit: Int) {
      count = prefixes.count
      guard limit > 0 else { return }
      for (place, prefix) in prefixes.enumerated() {
        let tables = EntryTable.tables(from: prefix, before: Entry.successor(of: prefix), layout)
        guard tables.count == 1, tables[0].isInFirstColumn(prefix) else {
          others.append(place)
          continue
        }
        if let index = places.firstIndex(where: { $0.table == tables[0] }) {
          places[index].places.append(place)
        } else {
          places.append((tables[0], [place]))
        }
      }
      statements = places.map { table, places in table.selection(beginningWith: places.map { prefixes[$0] }, limit) }
    }

    /// The entries by the places of the prefixes.
    func entries(in answers: ArraySlice<Answer>) -> [[[UInt8]]] {
      var found = [[[UInt8]]](repeating: [], count: count)
      for ((table, places), answer) in zip(places, answers) {
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
