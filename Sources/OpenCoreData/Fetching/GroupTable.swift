/// The groups of a fetch by the values that are equal in each, and what aggregates have computed of them.
struct GroupTable {
  private let keys: Int
  private let functions: [any Aggregate]
  /// The places among the values of those that aggregates keep.
  private let kept: [Int]
  private var places: [PredicateValue: Int] = [:]
  /// The aggregates of each group.
  private(set) var aggregates: [[any Aggregate]] = []

  /// - Parameters:
  ///   - keys: How many values are equal in a group. If there are none, there is one group, even without rows.
  ///   - functions: The aggregate functions, before they have values.
  init(keys: Int, _ functions: [any Aggregate]) {
    (self.keys, self.functions) = (keys, functions)
    kept = functions.indices.filter { functions[$0].keepsValues }.map { keys + $0 }
    if keys == 0 { _ = place(of: []) }
  }

  var count: Int { aggregates.count }

  /// Whether an object among the values would be kept. It may be the row that was read, which the caller may reuse.
  func keepsObjects(of values: [PredicateValue]) -> Bool {
    if kept.contains(where: { values[$0].hasObjects }) { return true }
    return values.prefix(keys).contains(where: \.hasObjects) && places[key(of: values)] == nil
  }

  /// Adds rows with the same values to their group.
  ///
  /// - Parameter values: Those that are equal in a group, and the arguments of the aggregate functions: a collection
  ///   stands for its elements, and null does not count.
  /// - Returns: The place of the group, the last one if the group is new.
  mutating func add(_ values: [PredicateValue], count: Int) -> Int {
    let place = place(of: values)
    for number in functions.indices {
      switch values[keys + number] {
      case .null: break
      case .collection(let elements, _):
        for element in elements where !element.isNull { aggregates[place][number].add(element, times: count) }
      case let value: aggregates[place][number].add(value, times: count)
      }
    }
    return place
  }

  private mutating func place(of values: [PredicateValue]) -> Int {
    let key = key(of: values)
    if let place = places[key] { return place }
    places[key] = count
    aggregates.append(functions)
    return count - 1
  }

  private func key(of values: [PredicateValue]) -> PredicateValue {
    keys == 1 ? values[0] : .collection(Array(values.prefix(keys)), ordered: true)
  }
}
