import CoreData

/// Executes a fetch over rows that are offered one by one, and keeps only the rows that the answer may need.
///
/// Without sort descriptors it keeps the rows after the offset, up to the limit, and the last of them ends the fetch.
/// With sort descriptors and a limit it keeps at most twice the sum of offset and limit, or 1,024 rows if that is more.
/// Dictionaries need all matching rows.
struct RowCollector {
  /// Whether the collector keeps what it sorts rows by, so that it does not read them again.
  static let keepsKeys = false
  /// Whether the collector makes dictionaries of groups of which it knows one row and the number of rows.
  static let takesGroups = false
  /// Whether predicates and sort descriptors compare texts by their scalars, as indexes do.
  static let ordersTextsByScalars = false

  private let matches: (SourceRow) -> Bool
  private let order: RowOrder?
  private let projection: RowProjection?
  private var offset: Int
  /// How many rows the answer can need, including those before the offset.
  private var bound: Int
  private let isForCount: Bool
  private var rows: [SourceRow] = []
  private var matched = 0

  /// - Throws: 134060 if the request does not fit the entity.
  init(_ request: NSFetchRequest<NSManagedObject>, of map: EntityMap, _ source: RowSource, isForCount: Bool) throws {
    matches = RowPredicate(source).test(request.predicate)
    projection = request.resultType == .dictionaryResultType ? try RowProjection(request, of: map.entity) : nil
    order = isForCount || projection != nil ? nil : try RowOrder(request, of: map.entity)
    offset = max(0, request.fetchOffset)
    let (end, overflows) = offset.addingReportingOverflow(request.fetchLimit)
    bound = projection != nil || request.fetchLimit <= 0 || overflows ? .max : end
    self.isForCount = isForCount
  }

  /// Takes a row if it matches. The caller may change the row after this returns.
  ///
  /// - Parameters:
  ///   - isMatch: Whether the row is known to satisfy the predicate, which is then not evaluated.
  ///   - copy: Makes a copy to keep. Called only for rows that the answer may need.
  /// - Returns: Whether the fetch needs more rows.
  mutating func offer(_ row: SourceRow, isMatch: Bool = false, copy: (SourceRow) -> SourceRow) -> Bool {
    guard isMatch || matches(row) else { return true }
    matched += 1
    if !isForCount, order != nil || projection != nil || matched > offset { rows.append(copy(row)) }
    guard let order else { return matched < bound }
    if rows.count >= 1024, rows.count / 2 >= bound {
      rows = Array(order.sorted(rows, by: RowObject.init).prefix(bound))
    }
    return true
  }

  /// Evaluates what the fetch asks of a row, and forgets it.
  func rehearse(_ row: SourceRow, isMatch: Bool) {
    if !isMatch { _ = matches(row) }
  }

  /// False: all rows of the answer are kept.
  var passesOn: Bool { false }

  func passOn(_ body: (SourceRow) -> Void) {}

  /// False: rows are always sorted.
  func takeInOrder() -> Bool { false }

  /// How many of the first rows in the order of the fetch are not needed.
  var rowsToSkip: Int { projection == nil ? offset : 0 }

  /// Whether the window is a part of the rows. Dictionaries are made of all matching rows first.
  var hasRowWindow: Bool { projection == nil }

  /// Takes note that the first rows in the order of the fetch are not offered.
  ///
  /// - Parameter count: At most ``rowsToSkip``.
  mutating func skip(_ count: Int) {
    offset -= count
    if bound < .max { bound -= count }
  }

  /// How many rows that match are needed, unless a row that comes later belongs before them.
  var rowsNeeded: Int { bound - matched }

  /// Whether enough rows matched for the answer, unless a row that comes later belongs before them.
  var hasEnough: Bool { matched >= bound }

  /// The rows of the answer.
  var result: [SourceRow] {
    guard let order else { return rows }
    return Array(order.sorted(rows, by: RowObject.init).prefix(bound).dropFirst(offset))
  }

  /// The dictionaries of the answer.
  ///
  /// - Parameter rehearse: Not called: `RowProjection` makes all dictionaries at once.
  func dictionaries(rehearsing rehearse: (() -> Void) throws -> Void) rethrows -> [NSDictionary] {
    projection?.dictionaries(of: rows) ?? []
  }

  /// Not called: see ``takesGroups``.
  func dictionaries(of groups: [CountedRows]) -> [NSDictionary] { fatalError("Rows are grouped by RowProjection.") }

  /// The number of rows in the answer.
  var count: Int { max(0, min(matched, bound) - offset) }
}
