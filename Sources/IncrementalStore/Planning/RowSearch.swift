public import CoreData

/// A snapshot whose database can find rows by what they have.
///
/// A row store in a database with columns of its own implements it, so that fetches do not read all rows. It may refuse
/// any search, and may find more rows than satisfy the predicate: the incremental store evaluates the predicate for each
/// row that a search finds, unless the row is certain.
public protocol SearchingRowSnapshot: RowSnapshot {
  /// A search for the rows that satisfy a query; nil if the database would have to give all rows, in no better order.
  func search(for query: RowQuery) throws -> (any RowSearch)?
}

/// What a fetch asks of the rows of some entities.
public struct RowQuery {
  /// The tables of the concrete entities, in the order in which a scan reads them.
  public let tables: [UInt32]
  /// The predicate; nil if all rows satisfy it.
  public let predicate: NSPredicate?
  /// The order of the rows, of which only the first ones are wanted; empty if all are wanted.
  public let order: [NSSortDescriptor]
  /// The properties by whose values the rows are grouped, of which only the first one of each group and the number are
  /// wanted; empty if all rows are wanted.
  public let groups: [String]
  /// Whether nothing else is read from the snapshot once the rows in the wanted window, all rows if no order is wanted,
  /// or their number have been given, so that a database may end its transaction with the statement that gives them.
  public let isLastRead: Bool
  /// The object of the store that a constant of the predicate is or identifies; nil for anything else.
  public let reference: (Any?) -> ObjectReference?
  /// Called with each statement before it is sent to the database; nil if nobody wants to know.
  public var noteStatement: ((SentStatement) -> Void)?
}

/// A statement that a fetch has sent to the database.
public struct SentStatement: Sendable, Hashable {
  /// As the database gets it.
  public let text: String
  /// The values of its parameters, in words.
  public let values: [String]

  /// A statement.
  public init(text: String, values: [String]) { (self.text, self.values) = (text, values) }
}

/// A row that a search has found.
public struct FoundRow {
  /// The row.
  public var row: StoredRow
  /// The place of its table in the query.
  public let place: Int
  /// Whether the database knows that the row satisfies the predicate.
  public let isCertain: Bool

  /// A row.
  public init(_ row: StoredRow, place: Int, isCertain: Bool) {
    (self.row, self.place, self.isCertain) = (row, place, isCertain)
  }
}

/// A search for the rows that satisfy a predicate. It takes place when it is asked for rows.
public protocol RowSearch {
  /// What the database is asked, in words.
  var description: String { get }
  /// Whether each row that satisfies the predicate is certain, except for few.
  var isExact: Bool { get }
  /// Whether the database can find the first rows in the order of the query.
  var hasOrder: Bool { get }

  /// Calls `body` with each row that may satisfy the predicate, until it returns false. The closure may call any method
  /// of the snapshot.
  ///
  /// - Parameters:
  ///   - isMerged: Whether the rows of all tables come in one common order, that of their references. Otherwise they
  ///     come in the order of the tables, and then in that of the references.
  ///   - body: Called with each row.
  func forEachRow(isMerged: Bool, _ body: (FoundRow) throws -> Bool) throws

  /// The number of certain rows, and whether there are others that may satisfy the predicate. Only if the search is
  /// exact.
  func count() throws -> (certain: Int, hasOthers: Bool)

  /// Calls `body` with each row that may satisfy the predicate and is not certain, until it returns false. Only if the
  /// search is exact.
  func forEachUncertainRow(_ body: (FoundRow) throws -> Bool) throws

  /// The rows that are in a window of the order; nil if too many rows would have to be read. Only if the search is exact
  /// and has an order.
  func rows(in window: Range<Int>) throws -> FoundWindow?

  /// The certain rows in groups with the same values of the properties that the query names: for each group, in any
  /// order, the row with the lowest reference and the number of rows. The groups may be of one table each. Nil if the
  /// database does not group, or there are too many groups. Only if the search is exact.
  func groups() throws -> [(first: FoundRow, count: Int)]?
}

extension RowSearch {
  /// Nil.
  public func groups() throws -> [(first: FoundRow, count: Int)]? { nil }
}

/// The rows that a search has found in a window of an order.
public struct FoundWindow {
  /// The rows, among which may be others that do not belong to the window.
  public var rows: [FoundRow]
  /// How many of the rows before the window are missing: none or all.
  public let skipped: Int
  /// Whether the rows are those of the window and no others, all certain and in the order, in which equal rows are in the
  /// order of their tables and references. Otherwise they are in any order.
  public let isInOrder: Bool

  /// A window.
  public init(_ rows: [FoundRow], skipped: Int, isInOrder: Bool) {
    (self.rows, self.skipped, self.isInOrder) = (rows, skipped, isInOrder)
  }
}

/// A search whose rows are noted or changed before anybody gets them.
struct WrappedSearch: RowSearch {
  let search: any RowSearch
  let tables: [UInt32]
  let change: (inout StoredRow, _ table: UInt32) throws -> Void

  var description: String { search.description }
  var isExact: Bool { search.isExact }
  var hasOrder: Bool { search.hasOrder }

  private func changed(_ found: FoundRow) throws -> FoundRow {
    var found = found
    try change(&found.row, tables[found.place])
    return found
  }

  func forEachRow(isMerged: Bool, _ body: (FoundRow) throws -> Bool) throws {
    try search.forEachRow(isMerged: isMerged) { try body(changed($0)) }
  }

  func count() throws -> (certain: Int, hasOthers: Bool) { try search.count() }

  func forEachUncertainRow(_ body: (FoundRow) throws -> Bool) throws {
    try search.forEachUncertainRow { try body(changed($0)) }
  }

  func rows(in window: Range<Int>) throws -> FoundWindow? {
    guard var found = try search.rows(in: window) else { return nil }
    found.rows = try found.rows.map(changed)
    return found
  }

  func groups() throws -> [(first: FoundRow, count: Int)]? {
    try search.groups()?.map { group in (try changed(group.first), group.count) }
  }
}
