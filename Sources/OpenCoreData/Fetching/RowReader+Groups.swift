import Foundation

extension RowReader {
  /// Reads groups of rows: aggregates from all of them, everything else from the first.
  func readingGroups() -> RowReader<[Row]> {
    var groups = RowReader<[Row]> { group in
      group.first.flatMap(object)
    } value: { key in
      value(key).map { read in { group in group.first.map(read) ?? .null } }
    }
    groups.identity = identity.map { read in { group in group.first.flatMap(read) } }
    groups.collect = { expression throws(PredicateCompilationError) in
      let each = try CompiledExpression(expression, reading: self)
      return { group in .collection(group.flatMap { each.value(of: $0).present }, ordered: false) }
    }
    return groups
  }
}

extension PredicateValue {
  /// The values that aggregates count: the elements of a collection, or the value itself, without null.
  fileprivate var present: [PredicateValue] { (elements ?? [self]).filter { !$0.isNull } }
}
