import CoreData

/// Offers rows to a collector. If evaluating them reads other rows, and each read waits for another machine, it offers
/// several at a time, after what they need has been read together.
final class RowPage {
  private static let most = 256

  private let source: RowSource
  private let isUsed: Bool
  private var rows: [(row: SourceRow, isMatch: Bool)] = []
  // Fetches that want only the first rows shall not read much for others.
  private var size = 16

  /// - Parameter readsRelated: Whether evaluating a row reads other rows, or entries.
  init(_ source: RowSource, readsRelated: Bool) {
    self.source = source
    isUsed = readsRelated && source.snapshot.isRemote
  }

  /// Whether rows are kept until others are offered, so that the caller cannot reuse them.
  var keepsRows: Bool { isUsed }

  /// - Returns: Whether further rows are needed.
  @inline(__always)
  func offer(
    _ row: SourceRow, isMatch: Bool = false, _ keepsContents: Bool, to collector: inout RowCollector
  ) throws -> Bool {
    guard isUsed else { return offerNow(row, isMatch, keepsContents, &collector) }
    rows.append((row, isMatch))
    return try rows.count < size || offerRest(keepsContents, to: &collector)
  }

  /// Offers the rows that have not been offered yet. To be called after the last row.
  ///
  /// - Returns: Whether further rows are needed.
  @discardableResult
  func offerRest(_ keepsContents: Bool, to collector: inout RowCollector) throws -> Bool {
    guard !rows.isEmpty else { return true }
    let rows = rows
    self.rows = []
    size = min(Self.most, 4 * size)
    try source.rehearse { for (row, isMatch) in rows { collector.rehearse(row, isMatch: isMatch) } }
    for (row, isMatch) in rows {
      guard offerNow(row, isMatch, keepsContents, &collector) else { return false }
    }
    return true
  }

  @inline(__always)
  private func offerNow(
    _ row: SourceRow, _ isMatch: Bool, _ keepsContents: Bool, _ collector: inout RowCollector
  ) -> Bool {
    collector.offer(row, isMatch: isMatch) { keepsContents ? $0 : $0.unread() } && source.failure == nil
  }
}

extension NSFetchRequest<NSManagedObject> {
  /// Whether the order of the results, or dictionaries, depend on other rows, or on entries of to-many relationships.
  func resultsReadRelationships(of map: EntityMap) -> Bool {
    let columns = (propertiesToFetch ?? []) + (propertiesToGroupBy ?? [])
    let expressions = columns.compactMap { column in
      (column as? NSExpressionDescription)?.expression ?? (column as? String).map(NSExpression.init(forKeyPath:))
    }
    let keys = (sortDescriptors ?? []).compactMap(\.key).map(NSExpression.init(forKeyPath:))
    return (expressions + keys).contains { $0.readsRelationships(of: map) }
  }
}
