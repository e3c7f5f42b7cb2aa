public import CoreData

/// A snapshot whose database can find rows by what they have.
///
/// A row store in a database with columns of its own implements it, so that fetches do not read all rows. It may refuse
/// any search, and may find more rows than satisfy the predicate: the incremental store evaluates the predicate for each
/// row that a search finds.
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
  /// The object of the store that a constant of the predicate is or identifies; nil for anything else.
  public let reference: (Any?) -> ObjectReference?
  /// Called with each statement before it is sent to the database.
  public var noteStatement: (SentStatement) -> Void = { _ in }
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

/// A search for the rows that satisfy a predicate. It takes place when it is asked for rows.
///
/// A row is *certain* if the database knows that it satisfies the predicate.
public protocol RowSearch {
  /// What the database is asked, in words.
  var description: String { get }
  /// Whether the database knows of each row that satisfies the predicate whether it is certain, except for few.
  var isExact: Bool { get }
  /// Whether the database can find the first rows in the order of the query.
  var hasOrder: Bool { get }

  /// Calls `body` with each row that may satisfy the predicate, and with the place of its table in the query, until it
  /// returns false. The closure may call any method of the snapshot.
  ///
  /// - Parameter isMerged: Whether the rows of all tables come in one common order, that of their references. Otherwise
  ///   they come in the order of the tables, and then in that of the references.
  func forEachRow(isMerged: Bool, _ body: (inout StoredRow, _ place: Int) throws -> Bool) throws

  /// The number of certain rows, and whether there are others that may satisfy the predicate. Only if the search is
  /// exact.
  func count() throws -> (certain: Int, hasOthers: Bool)

  /// Calls `body` with each row that may satisfy the predicate and is not certain. Only if the search is exact.
  func forEachUncertainRow(_ body: (inout StoredRow, _ place: Int) throws -> Bool) throws

  /// The rows that are in a window of the order, in any order, among which may be others that do not belong to it. Only
  /// if the search is exact and has an order.
  ///
  /// - Returns: The rows, and how many of those before the window are missing: none or all. Nil if too many rows would
  ///   have to be read.
  func rows(in window: Range<Int>) throws -> (rows: [(row: StoredRow, place: Int)], skipped: Int)?
}

/// A search whose rows are noted or changed before anybody gets them.
struct WrappedSearch: RowSearch {
  let search: any RowSearch
  let tables: [UInt32]
  let change: (inout StoredRow, _ table: UInt32) throws -> Void

  var description: String { search.description }
  var isExact: Bool { search.isExact }
  var hasOrder: Bool { search.hasOrder }

  func forEachRow(isMerged: Bool, _ body: (inout StoredRow, _ place: Int) throws -> Bool) throws {
    try search.forEachRow(isMerged: isMerged) { row, place in
      try change(&row, tables[place])
      return try body(&row, place)
    }
  }

  func count() throws -> (certain: Int, hasOthers: Bool) { try search.count() }

  func forEachUncertainRow(_ body: (inout StoredRow, _ place: Int) throws -> Bool) throws {
    try search.forEachUncertainRow { row, place in
      try change(&row, tables[place])
      return try body(&row, place)
    }
  }

  func rows(in window: Range<Int>) throws -> (rows: [(row: StoredRow, place: Int)], skipped: Int)? {
    guard var found = try search.rows(in: window) else { return nil }
    for place in found.rows.indices { try change(&found.rows[place].row, tables[found.rows[place].place]) }
    return found
  }
}
