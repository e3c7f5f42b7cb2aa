import Foundation

/// Makes the dictionaries of a fetch from the rows that satisfy its predicate.
struct DictionaryProjection<Row> {
  private typealias Group = RowGroup<Row>

  private let columns: [(name: String, value: (Group) -> PredicateValue)]
  /// Makes the groups before there are rows; nil if each row gives a dictionary.
  let makeGroups: (() -> RowGroups<Row>)?
  private let having: (Group) -> Bool
  private let sort: CompiledSort<Group>?
  private let isDistinct: Bool

  /// - Parameter order: The order of the rows; nil if they have none.
  init<Result>(
    _ request: NSFetchRequest<Result>, _ rows: FetchCompiler<Row>, _ order: CompiledSort<Row>?
  ) throws(FetchRequestError) {
    let entity = rows.validator.entity
    let columns = try Self.columns(request.propertiesToFetch, of: entity)
    let keys = try Self.keys(request.propertiesToGroupBy, of: entity)
    let hasGroups = !keys.isEmpty || columns.contains { $0.expression.containsAggregate }
    var calls: [(function: any Aggregate, argument: RowReader<Row>.Value)] = []
    let groups = FetchCompiler(
      validator: FetchRequestValidator(entity, grouping: hasGroups ? keys : nil),
      reader: rows.reader.readingGroups { function, argument in
        calls.append((function, argument))
        return calls.count - 1
      })
    let values = try Self.values(of: columns, groups)
    self.columns = values
    let aliases = Dictionary(columns.map { ($0.name, $0.expression) }) { _, last in last }
    having = try groups.test(request.havingPredicate.map { Substitution(values: aliases).apply(to: $0) })
    // A single group of all rows needs no order.
    sort = hasGroups && keys.isEmpty ? nil : try groups.sort(request.sortDescriptors)
    isDistinct = request.returnsDistinctResults
    if hasGroups {
      let keys = try Self.values(of: keys, rows)
      makeGroups = { [calls] in RowGroups(keys: keys, calls) }
    } else if isDistinct {
      // Rows that give equal dictionaries are a group.
      let keys: [(Row) -> PredicateValue] = values.map { column in { row in column.value(Group(first: row)) } }
      let bound = order == nil ? FetchWindow(request).end : .max
      makeGroups = { RowGroups(keys: keys, sort: order, bound: bound) }
    } else {
      makeGroups = nil
    }
  }

  // MARK: Parts of the request

  /// The columns that the request names, or all attributes that are not transient if it names none.
  private static func columns(
    _ given: [Any]?, of entity: NSEntityDescription
  ) throws(FetchRequestError) -> [DictionaryColumn] {
    guard let given, !given.isEmpty else {
      return entity.attributesByName.filter { !$0.value.isTransient }.keys.map(DictionaryColumn.init(keyPath:))
    }
    var columns: [DictionaryColumn] = []
    for column in given { columns.append(try DictionaryColumn(column, of: entity)) }
    return columns
  }

  private static func keys(
    _ given: [Any]?, of entity: NSEntityDescription
  ) throws(FetchRequestError) -> [NSExpression] {
    var keys: [NSExpression] = []
    for key in given ?? [] {
      let expression = try DictionaryColumn(key, of: entity).expression
      guard !expression.containsAggregate else {
        throw FetchRequestError(.noProperty, entity, keyPath: expression.name)
      }
      keys.append(expression)
    }
    return keys
  }

  private static func values(
    of columns: [DictionaryColumn], _ groups: FetchCompiler<Group>
  ) throws(FetchRequestError) -> [(name: String, value: (Group) -> PredicateValue)] {
    var values: [(name: String, value: (Group) -> PredicateValue)] = []
    for column in columns {
      let value = try groups.value(of: column.expression)
      values.append((column.name, { column.type.convert(value($0)) }))
    }
    return values
  }

  private static func values(
    of keys: [NSExpression], _ rows: FetchCompiler<Row>
  ) throws(FetchRequestError) -> [(Row) -> PredicateValue] {
    var values: [(Row) -> PredicateValue] = []
    for key in keys { values.append(try rows.value(of: key)) }
    return values
  }

  // MARK: Dictionaries

  /// The dictionaries of groups. They have no key for a nil value.
  func dictionaries(of groups: RowGroups<Row>, _ window: FetchWindow) -> [NSDictionary] {
    let groups = groups.result.filter(having)
    let sorted = sort?.sorted(groups) ?? groups
    guard isDistinct else { return window(sorted).map { dictionary(values(of: $0)) } }
    var seen: Set<[PredicateValue]> = []
    return window(sorted.map(values).filter { seen.insert($0).inserted }).map(dictionary)
  }

  /// The dictionary of a row, if each row gives one.
  func dictionary(of row: Row) -> NSDictionary { dictionary(values(of: Group(first: row))) }

  private func values(of group: Group) -> [PredicateValue] { columns.map { $0.value(group) } }

  private func dictionary(_ values: [PredicateValue]) -> NSDictionary {
    var dictionary: [String: Any] = [:]
    for (column, value) in zip(columns, values) { dictionary[column.name] = value.identity }
    return NSDictionary(dictionary: dictionary)
  }
}

extension PredicateValue {
  /// The value, or the identity of an object.
  fileprivate var identity: Any? {
    if case .object(let object as any Identified) = self { object.predicateIdentity.base } else { anyValue }
  }
}
