/// Rows of which a fetch makes one dictionary.
struct RowGroup<Row> {
  /// The rows, or the first of rows that have the same values for everything that is read.
  private(set) var rows: [Row]
  private(set) var count: Int

  init(_ rows: [Row]) { (self.rows, count) = (rows, rows.count) }

  /// - Parameter first: stands for all rows of the group.
  init(_ first: Row, count: Int) { (rows, self.count) = ([first], count) }

  mutating func append(_ row: Row) {
    rows.append(row)
    count += 1
  }
}

extension RowReader {
  /// Reads groups of rows: aggregates from all of them, everything else from the first.
  func readingGroups() -> RowReader<RowGroup<Row>> {
    var groups = RowReader<RowGroup<Row>> { group in
      group.rows.first.flatMap(object)
    } value: { key in
      value(key).map { read in { group in group.rows.first.map(read) ?? .null } }
    }
    groups.identity = identity.map { read in { group in group.rows.first.flatMap(read) } }
    groups.collect = { expression throws(PredicateCompilationError) in
      let each = try CompiledExpression(expression, reading: self)
      return { group in
        let values = group.rows.flatMap { each.value(of: $0).present }
        guard group.count > group.rows.count else { return .collection(values, ordered: false) }
        return .collection((0..<group.count).flatMap { _ in values }, ordered: false)
      }
    }
    return groups
  }
}

extension PredicateValue {
  /// The values that aggregates count: the elements of a collection, or the value itself, without null.
  fileprivate var present: [PredicateValue] { (elements ?? [self]).filter { !$0.isNull } }
}
