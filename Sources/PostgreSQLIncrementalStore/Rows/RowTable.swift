#if PostgreSQL
  import CoreData
  import IncrementalStore
  import RowFormat
  import Synchronization

  /// Where the rows of a table of the row store are: those of an entity of the schema in a table of their own with
  /// columns, all others in `cairn_rows`.
  final class RowTable: Sendable {
    let number: UInt32
    let table: Layout.Table?
    private let kind: RowReferenceKind
    private let name: String
    let reference: String
    private let version: String
    private let revision: String
    private let bytes: String
    /// What is true for the rows of this table only.
    private let condition: String
    private let columns: [ServerColumn]
    /// How many bytes a row of the last page had on average; 0 if no page was read.
    private let lastSize = Atomic<Int>(0)
    /// Selects the row at a reference, and the rows at several.
    let (selectionOfOne, selectionOfMany): (String, String)
    private let (insertion, update, touch, deletion): (String, String, String, String)

    convenience init(_ number: UInt32, in layout: Layout) { self.init(number, layout.tables[number], layout.kind) }

    convenience init(_ table: Layout.Table, _ kind: RowReferenceKind) { self.init(table.entity, table, kind) }

    private init(_ number: UInt32, _ table: Layout.Table?, _ kind: RowReferenceKind) {
      (self.number, self.table, self.kind) = (number, table, kind)
      name = table?.quoted ?? "cairn_rows"
      reference = table == nil ? "reference" : Layout.RowColumn.reference
      version = table == nil ? "version" : Layout.RowColumn.version
      revision = table == nil ? "revision" : Layout.RowColumn.revision
      bytes = table == nil ? "bytes" : Layout.RowColumn.bytes
      condition = table == nil ? "entity = \(Int32(bitPattern: number))" : "true"
      columns = table?.serverColumns(kind) ?? []
      let selection = Self.selection(reference, bytes, version, revision, name, condition)
      selectionOfOne = "\(selection) AND r.\(reference) = $1"
      selectionOfMany = "\(selection) AND r.\(reference) = ANY($1)"
      let sentNames = Self.sentNames(table == nil ? nil : columns)
      let sent = Self.sentRows(sentNames)
      let names = columns.map { ", \($0.quoted)" }.joined()
      let values = columns.indices.map { [columns] in ", \(columns[$0].sent($0))" }.joined()
      insertion =
        table == nil
        ? """
        INSERT INTO cairn_rows (entity, reference, bytes, version, revision)
        SELECT \(Int32(bitPattern: number)), n.reference, n.bytes, 1, currval('cairn_revisions') FROM \(sent)
        """
        : """
        INSERT INTO \(name) (\(reference), \(bytes), \(version), \(revision), \(Layout.RowColumn.isInexact)\(names))
        SELECT n.reference, n.bytes, 1, currval('cairn_revisions'), n.inexact\(values) FROM \(sent)
        """
      var assignments = [
        "\(bytes) = n.bytes", "\(version) = r.\(version) + 1", "\(revision) = currval('cairn_revisions')",
      ]
      if table != nil { assignments.append("\(Layout.RowColumn.isInexact) = n.inexact") }
      for (place, column) in columns.enumerated() { assignments.append("\(column.quoted) = \(column.sent(place))") }
      let isKnown = "\(condition) AND r.\(reference) = n.reference AND r.\(revision) = n.revision"
      let changedNames = sentNames + ["revision"]
      update = Statement.checkingCount(
        """
        UPDATE \(name) r SET \(assignments.joined(separator: ", ")) FROM \(Self.sentRows(changedNames))
        WHERE \(isKnown)
        """, parameters: changedNames.count)
      let revisions = Self.sentRows(["reference", "revision"])
      touch = Statement.checkingCount(
        """
        UPDATE \(name) r SET \(version) = r.\(version) + 1, \(revision) = currval('cairn_revisions')
        FROM \(revisions) WHERE \(isKnown)
        """, parameters: 2)
      deletion = Statement.checkingCount("DELETE FROM \(name) r USING \(revisions) WHERE \(isKnown)", parameters: 2)
    }

    /// Selects the reference, the bytes, the version and the revision of rows.
    func selection(where condition: String) -> String {
      "\(Self.selection(reference, bytes, version, revision, name, self.condition)) AND \(condition)"
    }

    private static func selection(
      _ reference: String, _ bytes: String, _ version: String, _ revision: String, _ name: String, _ condition: String
    ) -> String {
      let columns = [reference, bytes, version, revision].map { "r.\($0)" }.joined(separator: ", ")
      return "SELECT \(columns) FROM \(name) r WHERE \(condition)"
    }

    /// The condition for the row of the schema in table 0.
    static let isSchema = "r.reference = '\\x2102'"

    /// Selects the rows at references.
    func selection(of references: [RowReference]) -> Statement {
      var statement = Statement(text: selectionOfMany)
      add(references.filter { canHave($0) }, to: &statement.parameters)
      return statement
    }

    func counting() -> String { "SELECT count(*) FROM \(name) WHERE \(condition)" }

    // MARK: References

    /// The type of references, as PostgreSQL names and numbers it.
    private var type: (name: String, element: UInt32, array: UInt32) {
      typealias Number = Parameters.TypeNumber
      guard table != nil else { return ("bytea", Number.bytea, Number.byteaArray) }
      return kind == .uuid
        ? ("uuid", Number.uuid, Number.uuidArray) : ("bigint", Number.int8, Number.int8Array)
    }

    /// Whether a row can have a reference.
    func canHave(_ reference: RowReference) -> Bool {
      guard table != nil else { return true }
      return switch reference {
      case .integer: kind == .integer
      case .uuid: kind == .uuid
      case .string: false
      }
    }

    func add(_ reference: RowReference, to parameters: inout Parameters) {
      parameters.add(type.element, table == nil ? reference.ordered : reference.columnBytes ?? [])
    }

    func add(_ references: some Collection<RowReference>, to parameters: inout Parameters) {
      var array = ParameterArray()
      for reference in references {
        if table == nil { array.append(reference.ordered) } else { array.append(reference) }
      }
      parameters.add(type.array, of: type.element, array)
    }

    // MARK: Reading

    /// How many bytes a row is likely to have; nil if none was read.
    var likelySize: Int? {
      let size = lastSize.load(ordering: .relaxed)
      return size > 0 ? size : nil
    }

    /// Notes how many bytes the rows of a page have.
    func note(bytes: Int, of rows: Int) {
      if rows > 0 { lastSize.store(max(1, bytes / rows), ordering: .relaxed) }
    }

    /// A row that `selection` has found.
    func row(in answer: Answer, _ place: Int) throws -> StoredRow {
      StoredRow(
        reference: try reference(in: answer, place), bytes: answer.bytes(place, 1),
        version: UInt64(bitPattern: answer.integer(place, 2)), revision: UInt64(bitPattern: answer.integer(place, 3)))
    }

    private func reference(in answer: Answer, _ place: Int) throws -> RowReference {
      guard table != nil, kind == .integer else { return try reference(answer.bytes(place, 0)) }
      return .integer(answer.integer(place, 0))
    }

    /// A reference as the server has sent it.
    func reference(_ bytes: [UInt8]) throws -> RowReference {
      guard table == nil else {
        return kind == .uuid
          ? .uuid(bytes.reduce(0) { $0 << 8 | UInt128($1) })
          : .integer(Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
      }
      var input = ByteInput(bytes)
      return try StoreFailure.reading("A reference in the table cairn_rows") {
        let reference = try input.reference()
        try input.requireEnd()
        return reference
      }
    }

    // MARK: Writing

    /// Removes rows, which must have the revisions of the changes.
    func deletion(_ rows: [RowChanges.Row]) throws -> Statement {
      var statement = Statement(text: deletion)
      try add(rows, to: &statement.parameters)
      Self.add(revisionsOf: rows, to: &statement.parameters)
      return statement
    }

    /// Changes the version and the revision of rows, which must have the revisions of the changes. The new revision is
    /// the last that the connection has taken.
    func touch(_ rows: [RowChanges.Row]) throws -> Statement {
      var statement = Statement(text: touch)
      try add(rows, to: &statement.parameters)
      Self.add(revisionsOf: rows, to: &statement.parameters)
      return statement
    }

    /// Inserts rows.
    func insertion(_ rows: [RowChanges.Row], _ completion: RowCompletion?) throws -> Statement {
      var statement = Statement(text: insertion)
      try add(rows, to: &statement.parameters)
      try add(rows.map(\.bytes), table?.columns ?? [], columns, completion, to: &statement)
      return statement
    }

    /// Replaces the bytes of rows, which must have the revisions of the changes.
    func update(_ rows: [RowChanges.Row], _ completion: RowCompletion?) throws -> Statement {
      var statement = Statement(text: update)
      try add(rows, to: &statement.parameters)
      try add(rows.map(\.bytes), table?.columns ?? [], columns, completion, to: &statement)
      Self.add(revisionsOf: rows, to: &statement.parameters)
      return statement
    }

    /// Adds the revisions that rows must have, and the number of the rows.
    private static func add(revisionsOf rows: [RowChanges.Row], to parameters: inout Parameters) {
      var array = ParameterArray()
      for row in rows { array.append(bigEndian: row.revision ?? 0) }
      parameters.add(Parameters.TypeNumber.int8Array, of: Parameters.TypeNumber.int8, array)
      parameters.add(Int64(rows.count))
    }

    /// Writes columns of rows of which nothing else changes.
    func fill(_ filled: [Layout.Column], _ completion: RowCompletion?, _ rows: [StoredRow]) throws -> Statement {
      let columns = filled.flatMap { $0.serverColumns(kind) }
      // A row that was inexact may have another column that is, so it stays inexact.
      let assignments =
        ["\(Layout.RowColumn.isInexact) = r.\(Layout.RowColumn.isInexact) OR n.inexact"]
        + columns.enumerated().map { "\($1.quoted) = \($1.sent($0))" }
      var statement = Statement(
        text: """
          UPDATE \(name) r SET \(assignments.joined(separator: ", ")) FROM \(Self.sentRows(Self.sentNames(columns)))
          WHERE r.\(reference) = n.reference
          """)
      add(rows.map(\.reference), to: &statement.parameters)
      try add(rows.map(\.bytes), filled, columns, completion, to: &statement)
      return statement
    }

    /// Selects, of rows, the references and for each column whether it differs from what the bytes have.
    func comparison(_ completion: RowCompletion?, _ rows: [StoredRow]) throws -> Statement {
      let differences =
        // A row stays inexact when the column is dropped for which it was.
        ["n.inexact AND NOT r.\(Layout.RowColumn.isInexact)"]
        + columns.enumerated().map { "r.\($1.quoted) IS DISTINCT FROM \($1.sent($0))" }
      var statement = Statement(
        text: """
          SELECT r.\(reference), \(differences.joined(separator: ", "))
          FROM \(name) r JOIN \(Self.sentRows(Self.sentNames(columns))) ON r.\(reference) = n.reference
          WHERE \(differences.joined(separator: " OR ")) ORDER BY r.\(reference)
          """)
      add(rows.map(\.reference), to: &statement.parameters)
      try add(rows.map(\.bytes), table?.columns ?? [], columns, completion, to: &statement)
      return statement
    }

    /// The names of what is sent of rows.
    ///
    /// - Parameter columns: Nil if the rows have no columns.
    private static func sentNames(_ columns: [ServerColumn]?) -> [String] {
      ["reference", "bytes"] + (columns.map { ["inexact"] + $0.indices.map { "c\($0)" } } ?? [])
    }

    private static func sentRows(_ names: [String]) -> String {
      "unnest(\(EntryTable.list(names.count))) AS n (\(names.joined(separator: ", ")))"
    }

    private func add(_ rows: [RowChanges.Row], to parameters: inout Parameters) throws {
      if let wrong = rows.first(where: { !canHave($0.reference) }) {
        throw StoreFailure.make(
          NSPersistentStoreSaveError, "The store has references of another kind than \(wrong.reference).")
      }
      add(rows.map(\.reference), to: &parameters)
    }

    private func add(
      _ rows: [[UInt8]], _ columns: [Layout.Column], _ server: [ServerColumn], _ completion: RowCompletion?,
      to statement: inout Statement
    ) throws {
      typealias Number = Parameters.TypeNumber
      statement.parameters.add(rows)
      guard table != nil else { return }
      var values = ColumnValues(count: server.count)
      try StoreFailure.reading("A row of \(name)") {
        for row in rows { try values.add(row, columns, completion) }
      }
      statement.parameters.add(Number.boolArray, of: Number.bool, values.areInexact)
      for (column, array) in zip(server, values.arrays) {
        statement.parameters.add(column.array, of: column.element, array)
      }
    }
  }

  extension RowChanges.Row {
    var bytes: [UInt8] {
      if case .put(let bytes) = change { return bytes }
      return []
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
