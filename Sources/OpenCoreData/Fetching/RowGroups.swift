/// The groups of the rows of a fetch, made while the rows come one by one. Keeps one row of each group.
///
/// A class, because to call a method of a generic structure takes a lookup of its type.
final class RowGroups<Row> {
  /// Appends what the table needs of a row. One closure calls the next: to call the closures in an array takes several
  /// times as long, since their type depends on that of the rows.
  private let read: (Row, inout [PredicateValue]) -> Void
  private var table: GroupTable
  private var values: [PredicateValue] = []
  /// Decides which row stands for its group; nil if the first one does.
  private let sort: CompiledSort<Row>?
  /// How many groups are needed.
  private let bound: Int
  private var rows = 0
  /// The number of elements in `first`, which takes longer to ask for: its type depends on that of the rows.
  private var started = 0
  /// The rows that stand for the groups, and how many rows came before each of them.
  private var first: [(row: Row, place: Int)] = []

  /// - Parameters:
  ///   - keys: The values that are equal in a group. If there are none, there is one group, even if no row comes.
  ///   - calls: The calls of aggregate functions.
  init(
    keys: [RowReader<Row>.Value], _ calls: [(function: any Aggregate, argument: RowReader<Row>.Value)] = [],
    sort: CompiledSort<Row>? = nil, bound: Int = .max
  ) {
    table = GroupTable(keys: keys.count, calls.map(\.function))
    (self.sort, self.bound) = (sort, bound)
    var read: (Row, inout [PredicateValue]) -> Void = { _, _ in }
    for value in keys + calls.map(\.argument) {
      read = { [read] row, values in
        read(row, &values)
        values.append(value(row))
      }
    }
    self.read = read
  }

  /// The groups in the order of the rows that stand for them.
  var result: [RowGroup<Row>] {
    guard !first.isEmpty else { return table.aggregates.map { RowGroup(first: nil, aggregates: $0) } }
    let places = sort == nil ? Array(first.indices) : first.indices.sorted { first[$0].place < first[$1].place }
    return places.map { RowGroup(first: first[$0].row, aggregates: table.aggregates[$0]) }
  }

  /// - Parameters:
  ///   - row: The caller may reuse it afterwards.
  ///   - count: The number of rows with the same values for everything that is read, for which the row stands.
  ///   - copy: Makes a copy of a row that stays valid.
  /// - Returns: Whether further rows are needed.
  func add(_ row: Row, count: Int = 1, copy: (Row) -> Row) -> Bool {
    values.removeAll(keepingCapacity: true)
    read(row, &values)
    if table.keepsObjects(of: values) {
      values = []
      read(copy(row), &values)
    }
    let group = table.add(values, count: count)
    if group == started || sort != nil { choose(row, group, copy) }
    rows += count
    return table.count < bound
  }

  /// Reads what the table needs of a row, and forgets it.
  func rehearse(_ row: Row) {
    var values: [PredicateValue] = []
    read(row, &values)
    if let sort { _ = sort.keys(of: row) }
  }

  /// Lets a row stand for its group if it is the first one.
  // Not inlined: the types that it uses take time to look up.
  @inline(never)
  private func choose(_ row: Row, _ group: Int, _ copy: (Row) -> Row) {
    if group == started {
      started += 1
      first.append((copy(row), rows))
    } else if let sort, sort.order(row, first[group].row) == .orderedAscending {
      first[group] = (copy(row), rows)
    }
  }
}
