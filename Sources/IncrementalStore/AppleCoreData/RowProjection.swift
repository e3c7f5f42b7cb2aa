import CoreData

/// Makes the dictionaries of a fetch from the rows that match its predicate.
struct RowProjection {
  private typealias Group = [RowObject]

  private let columns: [(name: String, expression: NSExpression)]
  /// The expressions whose values are equal within a group; nil if each row is a group of its own.
  private let keys: [NSExpression]?
  private let having: NSPredicate?
  private let order: RowOrder?
  private let isDistinct: Bool
  private let (offset, limit): (Int, Int)

  /// - Throws: 134060 for a property that cannot be fetched into dictionaries.
  init(_ request: NSFetchRequest<NSManagedObject>, of entity: NSEntityDescription) throws {
    let all = entity.attributesByName.values.filter { !$0.isTransient }
    let columns = try (request.propertiesToFetch.flatMap { $0.isEmpty ? nil : $0 } ?? all).map {
      try Self.column($0, of: entity)
    }
    let keys = try (request.propertiesToGroupBy ?? []).map { try Self.column($0, of: entity).expression }
    let hasGroups = !keys.isEmpty || columns.contains { $0.expression.containsAggregate }
    self.columns = columns
    self.keys = hasGroups ? keys : nil
    having = request.havingPredicate
    order = try hasGroups && keys.isEmpty ? nil : RowOrder(request, of: entity)
    isDistinct = request.returnsDistinctResults
    (offset, limit) = (max(0, request.fetchOffset), request.fetchLimit > 0 ? request.fetchLimit : .max)
  }

  private static func column(
    _ given: Any, of entity: NSEntityDescription
  ) throws -> (name: String, expression: NSExpression) {
    if let computed = given as? NSExpressionDescription, let expression = computed.expression {
      return (computed.name, expression)
    }
    let name = (given as? NSPropertyDescription)?.name ?? given as? String ?? ""
    let first = name.prefix { $0 != "." }
    guard let property = entity.propertiesByName[String(first)], !property.isTransient,
      (property as? NSRelationshipDescription)?.isToMany != true
    else {
      throw StoreFailure.make(NSCoreDataError, "\(given) of \(entity.name ?? "") cannot be fetched into dictionaries.")
    }
    return (name, NSExpression(forKeyPath: name))
  }

  /// The dictionaries. A nil value has no key in its dictionary.
  func dictionaries(of rows: [SourceRow]) -> [NSDictionary] {
    let groups = groups(of: rows.map(RowObject.init)).filter(holds)
    var seen: Set<NSDictionary> = []
    let dictionaries = (order?.sorted(groups, by: \.first) ?? groups).map(dictionary)
      .filter { !isDistinct || seen.insert($0).inserted }
    return Array(dictionaries.dropFirst(offset).prefix(limit))
  }

  /// In the order of their first rows.
  private func groups(of rows: [RowObject]) -> [Group] {
    guard let keys else { return rows.map { [$0] } }
    guard !keys.isEmpty else { return [rows] }
    var places: [NSArray: Int] = [:]
    var groups: [Group] = []
    for row in rows {
      let key = NSArray(array: keys.map { $0.expressionValue(with: row, context: nil) ?? NSNull() })
      if let place = places[key] {
        groups[place].append(row)
      } else {
        places[key] = groups.count
        groups.append([row])
      }
    }
    return groups
  }

  private func holds(_ group: Group) -> Bool {
    guard let having else { return true }
    let expressions = Dictionary(columns.map { ($0.name, $0.expression) }) { $1 }
    let rewriter = PredicateRewriter { expression in
      let alias = expression.expressionType == .variable ? expressions[expression.variable] : nil
      guard alias != nil || expression.aggregated != nil else { return nil }
      return NSExpression(forConstantValue: (alias ?? expression).value(of: group))
    }
    return rewriter.rewritten(having).evaluate(with: group.first)
  }

  private func dictionary(_ group: Group) -> NSDictionary {
    var dictionary: [String: Any] = [:]
    for column in columns {
      let value = column.expression.value(of: group)
      dictionary[column.name] = (value as? RowObject)?.row.objectID ?? value
    }
    return NSDictionary(dictionary: dictionary)
  }
}

extension NSExpression {
  private static let aggregates: Set<String> = [
    "sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:",
  ]

  /// The argument of an aggregate, such as `price` in `sum(price)`; nil if the expression is not an aggregate.
  fileprivate var aggregated: NSExpression? {
    guard expressionType == .function, Self.aggregates.contains(function), let argument = arguments?.first,
      argument.expressionType != .aggregate
    else { return nil }
    return argument
  }

  /// Whether computing the value takes several rows.
  fileprivate var containsAggregate: Bool {
    aggregated != nil || expressionType == .function && arguments?.contains(where: \.containsAggregate) == true
  }

  /// The value for a group: aggregates use all rows, everything else uses the first row.
  fileprivate func value(of group: [RowObject]) -> Any? {
    let rewriter = PredicateRewriter { expression in
      expression.aggregated.map { NSExpression(forConstantValue: expression.aggregate($0, of: group)) }
    }
    let value = rewriter.rewritten(self).expressionValue(with: group.first, context: nil)
    return value is NSNull ? nil : value
  }

  private func aggregate(_ argument: NSExpression, of group: [RowObject]) -> Any? {
    let values = group.flatMap { row -> [Any] in
      switch argument.expressionValue(with: row, context: nil) {
      case nil, is NSNull: []
      case let set as NSSet: set.allObjects
      case let set as NSOrderedSet: set.array
      case let array as NSArray: Array(array)
      case let value?: [value]
      }
    }.filter { !($0 is NSNull) }
    if function == "count:" { return NSNumber(value: values.count) }
    guard !values.isEmpty else { return function == "sum:" ? NSNumber(value: 0) : nil }
    let all = NSExpression(forConstantValue: NSArray(array: values))
    return NSExpression(forFunction: function, arguments: [all]).expressionValue(with: nil, context: nil)
  }
}
