public import Foundation

/// Sort descriptors compiled to sort many rows of one kind.
///
/// Several threads may use it at the same time if the reader and the blocks of the descriptors allow that.
public struct CompiledSort<Row> {
  private struct Term {
    let key: (Row) -> PredicateValue
    let order: (PredicateValue, PredicateValue) -> ComparisonResult
  }

  private let terms: [Term]

  /// Compiles sort descriptors. Each one orders the rows that are equal for all descriptors before it.
  ///
  /// Descriptors with a Swift key path that stands for no key compare the objects of the rows.
  public init(_ descriptors: [NSSortDescriptor], reading reader: RowReader<Row>) throws(PredicateCompilationError) {
    var terms: [Term] = []
    for descriptor in descriptors { terms.append(try Self.term(descriptor, reader)) }
    self.terms = terms
  }

  private static func term(
    _ descriptor: NSSortDescriptor, _ reader: RowReader<Row>
  ) throws(PredicateCompilationError) -> Term {
    guard let descriptor = descriptor.keyed else {
      return Term(key: { .object(reader.object($0) ?? NSNull()) }) { left, right in
        descriptor.compare(left.anyValue ?? NSNull(), to: right.anyValue ?? NSNull())
      }
    }
    let expression = descriptor.sortKey.map { NSExpression(forKeyPath: $0) } ?? .expressionForEvaluatedObject()
    let value = try CompiledExpression(expression, reading: reader)
    let (order, ascending) = (descriptor.order, descriptor.ascending)
    return Term(key: { order.key(for: value.value(of: $0)) }) { left, right in
      ascending ? order.order(left, right) : order.order(right, left)
    }
  }

  /// The order of two rows.
  public func order(_ left: Row, _ right: Row) -> ComparisonResult {
    for term in terms {
      let order = term.order(term.key(left), term.key(right))
      if order != .orderedSame { return order }
    }
    return .orderedSame
  }

  /// The rows in order. The sort is stable: rows that are equal for all descriptors keep their order.
  ///
  /// Reads each row once. Takes O(n log n) comparisons.
  public func sorted(_ rows: [Row]) -> [Row] {
    sorted(rows.map { Keyed(keys: keys(of: $0), row: $0) }).map(\.row)
  }

  // MARK: Rows with their keys

  /// A row with the values that it is sorted by.
  struct Keyed {
    let keys: [PredicateValue]
    let row: Row
  }

  func keys(of row: Row) -> [PredicateValue] { terms.map { $0.key(row) } }

  func order(_ left: [PredicateValue], _ right: [PredicateValue]) -> ComparisonResult {
    for (place, term) in terms.enumerated() {
      let order = term.order(left[place], right[place])
      if order != .orderedSame { return order }
    }
    return .orderedSame
  }

  /// The rows in order, by the keys that were already read. The sort is stable.
  func sorted(_ rows: [Keyed]) -> [Keyed] {
    let places = rows.indices.sorted { left, right in
      let order = order(rows[left].keys, rows[right].keys)
      return order == .orderedSame ? left < right : order == .orderedAscending
    }
    return places.map { rows[$0] }
  }
}
