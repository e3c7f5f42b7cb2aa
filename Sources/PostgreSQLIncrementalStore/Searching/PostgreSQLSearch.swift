#if PostgreSQL
  import CoreData
  import IncrementalStore

  /// A search by the server.
  struct PostgreSQLSearch: RowSearch {
    /// What is searched for in a table.
    private struct Part {
      let place: Int
      let table: RowTable
      let scope: PredicateTranslator.Scope
      let condition: SearchCondition
      let order: SearchOrder?
      /// The values by which rows are grouped; nil if the server does not group by one of them, and empty for no groups.
      let groups: [String]?

      var source: String { "\(scope.table.quoted) \(scope.alias)" }

      /// Whether a row that may satisfy the predicate is certain.
      var isCertain: String {
        guard let must = condition.must else { return "false" }
        return must == condition.may ? "NOT \(scope.isInexact)" : "((\(must)) AND NOT \(scope.isInexact)) IS TRUE"
      }

      /// Selects the columns of rows, the place of the table, and whether each row is certain.
      ///
      /// - Parameters:
      ///   - certain: The condition for rows that are certain; nil for ``isCertain``.
      ///   - more: Further columns, each after a comma.
      ///   - joins: Joins the tables of further columns.
      func selection(certain: String? = nil, _ more: String = "", joins: String = "") -> String {
        typealias Column = Layout.RowColumn
        let row = scope.alias
        return """
          SELECT \(row).\(Column.reference) AS reference, \(row).\(Column.bytes) AS bytes, \
          \(row).\(Column.version) AS version, \(row).\(Column.revision) AS revision, \
          \(place)::bigint AS place, \(certain ?? isCertain) AS certain\(more) FROM \(source)\(joins)
          """
      }
    }

    /// The most rows that a window has, and the most that are read besides it.
    private static let mostRowsOfWindow = 10_000
    private static let mostOtherRows = 1000
    /// How many rows that a predicate names a statement reads, and how many such statements are sent at once.
    private static let (rowsOfStatement, statementsAtOnce) = (100, 32)

    /// A statement of a search and its parameters.
    typealias Sent = (text: String, parameters: SearchParameters)

    private let snapshot: PostgreSQLRowSnapshot
    private let noteStatement: ((SentStatement) -> Void)?
    private let isLastRead: Bool
    private let isInOrder: Bool
    /// By their places.
    private let parts: [Part]
    /// Of the conditions.
    private let parameters: SearchParameters
    private let kind: RowReferenceKind

    /// Nil if the server cannot narrow the rows, and cannot find the first of them in their order.
    init?(_ query: RowQuery, in snapshot: PostgreSQLRowSnapshot) {
      let known = snapshot.layout
      var translator = PredicateTranslator(known, query.reference)
      var parts: [Part] = []
      var narrows = false
      for (place, number) in query.tables.enumerated() {
        guard let table = known.layout.tables[number] else { return nil }
        let scope = PredicateTranslator.Scope(alias: "r\(place)", table: table)
        let condition = query.predicate.map { translator.condition($0, scope) } ?? .always
        narrows = narrows || query.predicate != nil && condition != nil
        parts.append(
          Part(
            place: place, table: known.table(number), scope: scope,
            condition: condition ?? .narrowing("true"), order: SearchOrder(query.order, scope, known.layout),
            groups: Self.values(of: query.groups, scope)))
      }
      isExact = parts.allSatisfy { $0.condition.must != nil }
      hasOrder = parts.allSatisfy { $0.order != nil }
      let hasGroups = !query.groups.isEmpty && parts.allSatisfy { $0.groups != nil }
      guard narrows || isExact && (hasOrder || hasGroups) else { return nil }
      (self.snapshot, self.parts, parameters) = (snapshot, parts, translator.parameters)
      (isLastRead, isInOrder, noteStatement) = (query.isLastRead, !query.order.isEmpty, query.noteStatement)
      kind = known.layout.kind
    }

    let isExact: Bool
    let hasOrder: Bool

    var description: String {
      guard let part = parts.first else { return "at the server" }
      let others = parts.count > 1 ? " and in \(parts.count - 1) more tables" : ""
      let condition = part.condition.may
      return "at the server: \(condition.contains("\n") ? condition.replacing("\n", with: " ") : condition)\(others)"
    }

    // MARK: Statements

    /// Runs statements after further ones, of which one plan serves all values.
    ///
    /// - Parameter areLast: Whether the transaction ends with the statements, if it begins with them.
    private func run(_ statements: [Sent], _ common: [Sent] = [], areLast: Bool = false) throws -> [Answer] {
      try snapshot.search(noted(statements), common: noted(common), areLast: areLast)
    }

    private func noted(_ all: [Sent]) -> [Statement] {
      all.map { statement in
        noteStatement?(SentStatement(text: statement.text, values: statement.parameters.values))
        return Statement(text: statement.text, parameters: statement.parameters.parameters, preparation: .recent)
      }
    }

    // MARK: Rows

    func forEachRow(isMerged: Bool, _ body: (FoundRow) throws -> Bool) throws {
      if try forEachNamedRow(body) { return }
      // A statement for the few others, so that an index serves each of them.
      try forEachRow(isMerged: isMerged, body) { part in
        part.selection() + " WHERE (\(part.condition.may)) AND NOT \(part.scope.isInexact)"
      } others: { part in
        part.selection(certain: "false") + " WHERE \(part.scope.isInexact)"
      }
    }

    /// Reads the rows that the predicate names, many in several statements, so that objects are made of the first ones
    /// while the server finds the next ones.
    ///
    /// - Returns: False if the predicate is about more than which rows these are, or about several tables.
    private func forEachNamedRow(_ body: (FoundRow) throws -> Bool) throws -> Bool {
      let wanted = parts.filter { $0.condition.most != 0 }
      guard wanted.count == 1, let part = wanted.first, let references = part.condition.references else { return false }
      var rest = references.distinct[...]
      var isOver = false
      let isOnlyRead = isLastRead && !isInOrder && snapshot.isUnread
      repeat {
        let group = rest.prefix(Self.rowsOfStatement * Self.statementsAtOnce)
        rest = rest.dropFirst(group.count)
        let statements = stride(from: group.startIndex, to: group.endIndex, by: Self.rowsOfStatement).map { start in
          var parameters = SearchParameters()
          let list = Array(group[start..<min(start + Self.rowsOfStatement, group.endIndex)])
          let isNamed = "\(part.scope.reference) = ANY(\(parameters.add(list, kind)))"
          return ("\(part.selection(certain: "true")) WHERE \(isNamed) ORDER BY 1", parameters)
        }
        func pass(_ answer: Answer) throws {
          for place in 0..<answer.count where !isOver { isOver = try !body(row(in: answer, place)) }
        }
        if isOnlyRead {
          try snapshot.run(noted(statements), areLast: rest.isEmpty, pass)
        } else {
          for answer in try snapshot.run(noted(statements)) { try pass(answer) }
        }
      } while !rest.isEmpty && !isOver
      return true
    }

    func forEachUncertainRow(_ body: (FoundRow) throws -> Bool) throws {
      try forEachRow(isMerged: false, body) { "\($0.selection()) WHERE (\(uncertain($0)))" }
    }

    /// The condition for the rows that may satisfy the predicate and are not certain.
    private func uncertain(_ part: Part) -> String {
      guard part.condition.may != part.condition.must else { return part.scope.isInexact }
      return "(\(part.condition.may)) AND (\(part.condition.must ?? "false")) IS NOT TRUE OR \(part.scope.isInexact)"
    }

    private func certain(_ part: Part) -> String {
      "(\(part.condition.must ?? "false")) AND NOT \(part.scope.isInexact)"
    }

    /// Reads pages by the references, so that other reads can take place between them.
    ///
    /// - Parameters:
    ///   - selection: Selects rows of a table.
    ///   - others: Selects other rows of it, without the parameters of the search; nil if there are none.
    private func forEachRow(
      isMerged: Bool, _ body: (FoundRow) throws -> Bool, _ selection: (Part) -> String,
      others: ((Part) -> String)? = nil
    ) throws {
      // The first page is likely to have all rows. If it has not, all are read in a transaction that stays.
      var areLast = isLastRead && !isInOrder && (isMerged || self.parts.count == 1)
      snapshot.beginAgain()
      for parts in isMerged ? [parts] : parts.map({ [$0] }) where !parts.isEmpty {
        var last: RowReference?
        var size = PageSize(most: mostRows, size: likelySize)
        var isLast = false
        while !isLast {
          let page = page(of: parts, after: last, size.rows, parameters, selection)
          let common = others.map { [self.page(of: parts, after: last, size.rows, SearchParameters(), $0)] } ?? []
          let answers = try run([page], common, areLast: areLast)
          var rows: [FoundRow] = []
          for answer in answers { for place in 0..<answer.count { rows.append(try row(in: answer, place)) } }
          if areLast, rows.count >= size.rows {
            areLast = false
            size.adapt(toBytes: rows.reduce(0) { $0 + $1.row.bytes.count })
            snapshot.beginAgain()
            continue
          }
          if answers.count > 1, answers[0].count > 0 { rows.sort { $0.row.reference < $1.row.reference } }
          var bytes = 0
          for found in rows.prefix(size.rows) {
            bytes += found.row.bytes.count
            last = found.row.reference
            guard try body(found) else { return }
          }
          let count = min(rows.count, size.rows)
          for part in parts { part.table.note(bytes: bytes, of: count) }
          isLast = rows.count < size.rows
          if !isLast { size.adapt(toBytes: bytes) }
        }
      }
    }

    /// The statement for the first rows of some tables after a reference.
    private func page(
      of parts: [Part], after last: RowReference?, _ count: Int, _ parameters: SearchParameters,
      _ selection: (Part) -> String
    ) -> Sent {
      var parameters = parameters
      let count = parameters.add(Int64(count))
      let start = last.map { parameters.add($0) }
      let selections = parts.map { part in
        let from = start.map { " AND \(part.scope.reference) > \($0)" } ?? ""
        return "\(selection(part))\(from) ORDER BY 1 LIMIT \(count)"
      }
      guard selections.count > 1 else { return (selections[0], parameters) }
      let all = selections.map { "(\($0))" }.joined(separator: "\nUNION ALL ")
      return ("\(all) ORDER BY 1 LIMIT \(count)", parameters)
    }

    /// The most rows that can be found, but for those with a value that the server cannot have; nil if not known.
    private var mostRows: Int? {
      let all = parts.compactMap(\.condition.most)
      return all.count == parts.count ? all.reduce(0, +) : nil
    }

    /// How many bytes a row is likely to have; nil if that is not known.
    private var likelySize: Int? {
      let all = parts.compactMap(\.table.likelySize)
      return all.count == parts.count ? all.max() : nil
    }

    private func row(in answer: Answer, _ place: Int) throws -> FoundRow {
      let table = Int(answer.integer(place, 4))
      guard parts.indices.contains(table) else {
        throw StoreFailure.make(NSCoreDataError, "The server has answered with a row of no table: \(table).")
      }
      return FoundRow(try parts[table].table.row(in: answer, place), place: table, isCertain: answer.bool(place, 5))
    }

    // MARK: Numbers

    func count() throws -> (certain: Int, hasOthers: Bool) {
      let counts = parts.map { "(SELECT count(*) FROM \($0.source) WHERE \(certain($0)))" }
      let others = parts.map { "EXISTS (SELECT FROM \($0.source) WHERE \(uncertain($0)))" }
      guard !parts.isEmpty else { return (0, false) }
      let statement = "SELECT \(counts.joined(separator: " + ")), \(others.joined(separator: " OR "))"
      var answer = try run([(statement, parameters)], areLast: isLastRead)[0]
      // The others are read in the same transaction.
      if answer.bool(0, 1), snapshot.beginAgain() { answer = try run([(statement, parameters)])[0] }
      return (Int(answer.integer(0, 0)), answer.bool(0, 1))
    }

    // MARK: Groups

    /// The most groups that the server is asked for.
    private static let mostGroups = 10_000

    /// Expressions that are the same for two rows of a table if these have the same values of some properties; nil if
    /// there is none for one of them.
    private static func values(of properties: [String], _ scope: PredicateTranslator.Scope) -> [String]? {
      let values = properties.map { property -> String? in
        guard let column = scope.table.column(of: property) else { return nil }
        let operand = Operand(column, scope, isIndexed: false)
        switch column.kind {
        case .boolean, .integer, .uuid, .toOne: return operand.expression
        case .text: return operand.normalized
        // Numbers that are not equal may be the same, as NaN, and the other way round.
        case .double, .decimal, .date, .data, .uri, .transformed, .composite: return nil
        }
      }
      let known = values.compactMap(\.self)
      return known.count == values.count ? known : nil
    }

    func groups() throws -> [(first: FoundRow, count: Int)]? {
      var parameters = parameters
      let most = parameters.add(Int64(Self.mostGroups + 1))
      var selections: [String] = []
      for part in parts {
        guard let values = part.groups, !values.isEmpty else { return nil }
        // There is no lowest UUID for the server, but texts of UUIDs sort as these do.
        let reference = part.scope.reference
        let lowest = kind == .uuid ? "min(\(reference)::text COLLATE \"C\")::uuid" : "min(\(reference))"
        let groups = """
          SELECT \(lowest) AS first, count(*) AS count FROM \(part.source) WHERE \(certain(part))
          GROUP BY \(values.joined(separator: ", ")) LIMIT \(most)
          """
        let first = part.selection(
          certain: "true", ", g.count", joins: " JOIN (\(groups)) g ON g.first = \(reference)")
        selections.append("(\(first))")
      }
      guard !selections.isEmpty else { return nil }
      let answer = try run([(selections.joined(separator: "\nUNION ALL "), parameters)])[0]
      guard answer.count <= Self.mostGroups else { return nil }
      return try (0..<answer.count).map { (try row(in: answer, $0), Int(answer.integer($0, 6))) }
    }

    // MARK: Windows

    func rows(in window: Range<Int>) throws -> FoundWindow? {
      guard window.count <= Self.mostRowsOfWindow else { return nil }
      let (rows, others) = try firstRows(window, areLast: isLastRead)
      guard !others.isEmpty, window.lowerBound > 0 else {
        return FoundWindow(rows + others, skipped: window.lowerBound, isInOrder: others.isEmpty)
      }
      // Where the others belong is not known.
      guard others.count <= Self.mostOtherRows, window.upperBound <= Self.mostRowsOfWindow else { return nil }
      snapshot.beginAgain()
      let all = try firstRows(0..<window.upperBound, areLast: false)
      guard all.others.count <= Self.mostOtherRows else { return nil }
      return FoundWindow(all.rows + all.others, skipped: 0, isInOrder: false)
    }

    /// The rows in a window of those that the server can sort, and the first of those that it cannot.
    private func firstRows(
      _ window: Range<Int>, areLast: Bool
    ) throws -> (rows: [FoundRow], others: [FoundRow]) {
      guard !parts.isEmpty else { return ([], []) }
      let (sorted, others, areCommon) = (sortedRows(window), otherRows, hasCommonOthers)
      let answers =
        try areCommon
        ? run([sorted], [others], areLast: areLast).reversed() : run([sorted, others], areLast: areLast)
      let found = try answers.map { answer in try (0..<answer.count).map { try row(in: answer, $0) } }
      return (found[0], found[1])
    }

    /// The statement for the rows in a window of those that the server can sort.
    private func sortedRows(_ window: Range<Int>) -> Sent {
      var parameters = parameters
      let offset = window.lowerBound > 0 ? " OFFSET \(parameters.add(Int64(window.lowerBound)))" : ""
      let count = parameters.add(Int64(window.count))
      let names = (0..<(parts.first?.order?.keys.count ?? 0)).map { "k\($0)" }
      func rows(_ part: Part, _ order: SearchOrder, _ more: String, _ limit: String) -> String {
        let exact = order.inexact.map { " AND (\($0)) IS NOT TRUE" } ?? ""
        return """
          \(part.selection(more, joins: order.joins)) WHERE \(certain(part))\(exact)
          ORDER BY \(order.terms), \(part.scope.reference)\(limit)
          """
      }
      let ordered = parts.compactMap { part in part.order.map { (part, $0) } }
      if ordered.count == 1, let (part, order) = ordered.first {
        return (rows(part, order, "", "\(offset) LIMIT \(count)"), parameters)
      }
      let end = parameters.add(Int64(window.upperBound))
      let selections = ordered.map { part, order in
        let keys = zip(order.keys, names).map { ", \($0.expression) AS \($1)" }.joined()
        return "(\(rows(part, order, keys, " LIMIT \(end)")))"
      }
      let statement = """
        SELECT reference, bytes, version, revision, place, certain FROM (
        \(selections.joined(separator: "\nUNION ALL "))
        ) u ORDER BY \(ordered.first?.1.terms(names) ?? "reference"), place, reference\(offset) LIMIT \(count)
        """
      return (statement, parameters)
    }

    /// The statement for the first rows that the server cannot sort.
    private var otherRows: Sent {
      var parameters = hasCommonOthers ? SearchParameters() : parameters
      let most = parameters.add(Int64(Self.mostOtherRows + 1))
      let selections = parts.map { part in
        let inexact = part.order?.inexact
        let unsorted = inexact.map { " OR (\(part.condition.may)) AND (\($0))" } ?? ""
        let joins = inexact == nil ? "" : part.order?.joins ?? ""
        return "(\(part.selection(joins: joins)) WHERE \(uncertain(part))\(unsorted) LIMIT \(most))"
      }
      return (selections.joined(separator: "\nUNION ALL "), parameters)
    }

    /// Whether the rows that the server cannot sort are the same whatever the search is for. Then one plan serves all.
    private var hasCommonOthers: Bool {
      parts.allSatisfy { $0.condition.may == $0.condition.must && $0.order?.inexact == nil }
    }
  }

  extension [RowReference] {
    /// The references in ascending order, each once.
    fileprivate var distinct: [RowReference] {
      var numbers = compactMap { if case .integer(let number) = $0 { number } else { nil } }
      guard numbers.count == count else { return Set(self).sorted() }
      // Takes a tenth of the time that references take.
      numbers.sort()
      var last: Int64?
      return numbers.compactMap { number in
        defer { last = number }
        return number == last ? nil : .integer(number)
      }
    }
  }

  extension PostgreSQLRowSnapshot: SearchingRowSnapshot {
    func search(for query: RowQuery) throws -> (any RowSearch)? {
      PostgreSQLSearch(query, in: self)
    }
  }
#endif
