/// The groups of the rows of a fetch, made while the rows come one by one. Keeps one row of each group.
struct RowGroups<Row> {
  /// The values that are equal in a group.
  private let keys: [(Row) -> PredicateValue]
  private let calls: [AggregateCall<Row>]
  /// Decides which row stands for its group; nil if the first one does.
  private let sort: CompiledSort<Row>?
  /// How many groups are needed.
  private let bound: Int
  private var places: [[PredicateValue]: Int] = [:]
  private var rows = 0
  private var groups: [RowGroup<Row>] = []

  /// - Parameter keys: If there are none, there is one group, even if no row comes.
  init(
    keys: [(Row) -> PredicateValue], _ calls: [AggregateCall<Row>], sort: CompiledSort<Row>? = nil, bound: Int = .max
  ) {
    (self.keys, self.calls, self.sort, self.bound) = (keys, calls, sort, bound)
    if keys.isEmpty { _ = begin([]) }
  }

  /// The groups in the order of the rows that stand for them.
  var result: [RowGroup<Row>] { sort == nil ? groups : groups.sorted { $0.place < $1.place } }

  /// - Parameters:
  ///   - row: The caller may reuse it afterwards.
  ///   - count: The number of rows with the same values for everything that is read, for which the row stands.
  ///   - copy: Makes a copy of a row that stays valid.
  /// - Returns: Whether further rows are needed.
  mutating func add(_ row: Row, count: Int = 1, copy: (Row) -> Row) -> Bool {
    let key = keys.map { $0(row) }
    let place = places[key] ?? begin(key.haveObjects ? keys.map { [row = copy(row)] in $0(row) } : key)
    if groups[place].first.map({ sort?.order(row, $0) == .orderedAscending }) ?? true {
      groups[place].first = copy(row)
      groups[place].place = rows
    }
    rows += count
    for (number, call) in calls.enumerated() {
      var values = call.values(of: row)
      if call.function.keepsValues, values.haveObjects { values = call.values(of: copy(row)) }
      for value in values { groups[place].aggregates[number].add(value, times: count) }
    }
    return groups.count < bound
  }

  private mutating func begin(_ key: [PredicateValue]) -> Int {
    places[key] = groups.count
    groups.append(RowGroup(aggregates: calls.map(\.function)))
    return groups.count - 1
  }
}

extension [PredicateValue] {
  /// Whether there are objects among the values, or among their elements. An object may be the row that was read.
  var haveObjects: Bool {
    contains { value in
      if case .object = value { true } else { value.elements?.haveObjects ?? false }
    }
  }
}
