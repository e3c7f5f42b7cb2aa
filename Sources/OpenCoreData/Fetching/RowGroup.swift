import Foundation

/// Rows of which a fetch makes one dictionary: one that stands for them, and what aggregates have computed of all.
struct RowGroup<Row> {
  /// The row whose values the dictionary has; nil as long as the group has no rows.
  var first: Row?
  /// The number of rows that came before `first`.
  var place = 0
  /// One for each call of an aggregate function in the request.
  var aggregates: [any Aggregate] = []
}

/// A call of an aggregate function in a request.
struct AggregateCall<Row> {
  /// The function before it has values.
  let function: any Aggregate
  private let argument: CompiledExpression<Row>

  init(_ function: any Aggregate, _ argument: NSExpression, reading reader: RowReader<Row>)
    throws(PredicateCompilationError)
  {
    self.function = function
    self.argument = try CompiledExpression(argument, reading: reader)
  }

  /// The values that the call counts for a row: the elements of a collection, or the value itself, without null.
  func values(of row: Row) -> [PredicateValue] {
    let value = argument.value(of: row)
    return value.isNull ? [] : value.elements.map { $0.filter { !$0.isNull } } ?? [value]
  }
}

extension RowReader {
  /// Reads groups of rows: the results of aggregates, and everything else from the first row.
  ///
  /// - Parameter note: Takes note of a call of an aggregate function and returns its place among the aggregates of a
  ///   group.
  func readingGroups(noting note: @escaping (AggregateCall<Row>) -> Int) -> RowReader<RowGroup<Row>> {
    var groups = RowReader<RowGroup<Row>> { group in
      group.first.flatMap(object)
    } value: { key in
      value(key).map { read in { group in group.first.map(read) ?? .null } }
    }
    groups.identity = identity.map { read in { group in group.first.flatMap(read) } }
    groups.aggregate = { function, argument throws(PredicateCompilationError) in
      let place = note(try AggregateCall(function, argument, reading: self))
      return { group in group.aggregates[place].result }
    }
    return groups
  }
}
