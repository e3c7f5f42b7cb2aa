/// Rows of which a fetch makes one dictionary: one that stands for them, and what aggregates have computed of all.
struct RowGroup<Row> {
  /// The row whose values the dictionary has; nil if the group has no rows.
  let first: Row?
  /// One for each call of an aggregate function in the request.
  var aggregates: [any Aggregate] = []
}

extension RowReader {
  /// Reads groups of rows: the results of aggregates, and everything else from the first row.
  ///
  /// - Parameter note: Takes note of a call of an aggregate function, with a closure that reads its argument, and
  ///   returns its place among the aggregates of a group.
  func readingGroups(noting note: @escaping (any Aggregate, @escaping Value) -> Int) -> RowReader<RowGroup<Row>> {
    var groups = RowReader<RowGroup<Row>> { group in
      group.first.flatMap(object)
    } value: { key in
      value(key).map { read in { group in group.first.map(read) ?? .null } }
    }
    groups.identity = identity.map { read in { group in group.first.flatMap(read) } }
    groups.aggregate = { function, argument throws(PredicateCompilationError) in
      let value = try CompiledExpression(argument, reading: self).value
      // Each row has an identifier, which takes time to make, and which counts as any other value does.
      let place = note(function, function is Count && argument.isIdentifier ? { _ in .integer(1) } : value)
      return { group in group.aggregates[place].result }
    }
    return groups
  }
}
