import CoreData

/// Executes a fetch over rows that come one by one, and keeps no more of them than the answer needs.
///
/// Without sort descriptors these are the rows of the window, and the last of them ends the fetch. With sort
/// descriptors and a limit they are at most twice as many as offset and limit together.
struct RowCollector {
  private let matches: (SourceRow) -> Bool
  private let order: RowOrder?
  private let projection: RowProjection?
  private let offset: Int
  /// How many rows the answer can need, those before its window included.
  private let bound: Int
  private let isForCount: Bool
  private var rows: [SourceRow] = []
  private var matched = 0

  /// - Throws: 134060 if the request makes no sense for the entity.
  init(_ request: NSFetchRequest<NSManagedObject>, of map: EntityMap, _ source: RowSource, isForCount: Bool) throws {
    matches = RowPredicate(source).test(request.predicate)
    projection = request.resultType == .dictionaryResultType ? try RowProjection(request, of: map.entity) : nil
    order = isForCount || projection != nil ? nil : try RowOrder(request, of: map.entity)
    offset = max(0, request.fetchOffset)
    let (end, overflows) = offset.addingReportingOverflow(request.fetchLimit)
    bound = projection != nil || request.fetchLimit <= 0 || overflows ? .max : end
    self.isForCount = isForCount
  }

  /// Looks at a row, which may be another one when this returns.
  ///
  /// - Parameter copy: Makes a row that stays. Called for those that the answer may need.
  /// - Returns: Whether to go on.
  mutating func offer(_ row: SourceRow, copy: (SourceRow) -> SourceRow) -> Bool {
    guard matches(row) else { return true }
    matched += 1
    if !isForCount, order != nil || projection != nil || matched > offset { rows.append(copy(row)) }
    guard let order else { return matched < bound }
    if rows.count >= 1024, rows.count / 2 >= bound {
      rows = Array(order.sorted(rows, by: RowObject.init).prefix(bound))
    }
    return true
  }

  /// The rows of the answer.
  var result: [SourceRow] {
    guard let order else { return rows }
    return Array(order.sorted(rows, by: RowObject.init).prefix(bound).dropFirst(offset))
  }

  /// The dictionaries of the answer.
  var dictionaries: [NSDictionary] { projection?.dictionaries(of: rows) ?? [] }

  /// The number of rows in the answer.
  var count: Int { max(0, min(matched, bound) - offset) }
}
