import CoreData

/// Rows with the same values of some properties.
typealias CountedRows = (first: SourceRow, count: Int)

extension NSFetchRequest<NSManagedObject> {
  /// The names of the properties by which the request groups rows, if it asks for nothing but these properties and for
  /// numbers of rows; nil if it asks for more, or does not group.
  var countedGroupNames: Set<String>? {
    guard RowCollector.takesGroups, resultType == .dictionaryResultType, havingPredicate == nil,
      let keys = propertiesToGroupBy, !keys.isEmpty, let columns = propertiesToFetch, !columns.isEmpty
    else { return nil }
    let names = keys.compactMap(Self.name)
    guard names.count == keys.count else { return nil }
    let known = Set(names)
    let isCounted = columns.allSatisfy { column in
      guard let computed = column as? NSExpressionDescription else {
        return Self.name(column).map(known.contains) ?? false
      }
      return computed.expression.map { $0.counts(oneOf: known) } ?? false
    }
    let isSortedByThem = (sortDescriptors ?? []).allSatisfy { $0.key.map(known.contains) ?? false }
    return isCounted && isSortedByThem ? known : nil
  }

  private static func name(_ column: Any) -> String? {
    column is NSExpressionDescription ? nil : (column as? NSPropertyDescription)?.name ?? column as? String
  }
}

extension NSExpression {
  /// Whether the expression is the number of values of one of some properties, or of objects.
  fileprivate func counts(oneOf names: Set<String>) -> Bool {
    guard expressionType == .function, function == "count:", let argument = arguments?.first else { return false }
    return argument.isIdentity || argument.path.map(names.contains) ?? false
  }
}

extension IndexPlanner {
  /// An index in which rows with the same values of some properties are neighbours, and a section of it that has the
  /// rows that satisfy some predicates, and no others.
  ///
  /// - Returns: The section, and how many properties of the index have the same values in a group.
  func groups(by names: Set<String>, _ parts: [NSPredicate]) -> (section: IndexSection, properties: Int)? {
    for index in indexes where has(index, allThatSatisfy: parts) {
      guard let found = self.names(of: index) else { continue }
      let (section, fixed, _) = section(of: index, parts)
      let varying = names.subtracting(found.prefix(fixed))
      guard section.isExact, section.ranges.count == 1, fixed + varying.count <= found.count,
        Set(found[fixed..<fixed + varying.count]) == varying
      else { continue }
      return (section, fixed + varying.count)
    }
    return nil
  }
}

extension RowPass {
  /// The rows that satisfy the predicate, grouped by their values of some properties, in the order of the first rows of
  /// the groups. Nil if neither the database nor an index tells.
  ///
  /// - Parameter areSorted: As for ``offerRows(to:areSorted:keepingContents:)``.
  func groups(by names: Set<String>, areSorted: Bool) throws -> (groups: [CountedRows], path: String)? {
    if var found = try searchedGroups(by: names) {
      found.groups.sort { comesFirst($0.first, $1.first, areSorted) }
      return found
    }
    guard partialRows == nil,
      let (section, properties) = planner.indexes.groups(by: names, predicate?.conjuncts ?? [])
    else { return nil }
    var groups: [(first: (object: ObjectReference, place: Int), count: Int)] = []
    var startsGroup = true
    var isCertain = true
    // Most objects are of the first entity.
    let entity = maps.first?.number
    try source.forEachObject(in: section, section.ranges[0], reverse: false, headLength: properties) {
      object, _, head in
      startsGroup = startsGroup || !head.isRepeated
      guard let place = object.entity == entity ? 0 : places[object.entity] else { return true }
      // Values that are cut off may differ, and NaN differs from itself.
      isCertain = head.isWhole && !head.hasNotANumber
      if startsGroup {
        groups.append(((object, place), 1))
        startsGroup = false
      } else {
        let last = groups.count - 1
        groups[last].count += 1
        if comesFirst((object, place), groups[last].first, areSorted) { groups[last].first = (object, place) }
      }
      return isCertain
    }
    guard isCertain else { return nil }
    let counted = groups.sorted { comesFirst($0.first, $1.first, areSorted) }.map { group in
      (SourceRow(group.first.object.reference, maps[group.first.place], source), group.count)
    }
    return (counted, "groups of \(section)")
  }

  private func comesFirst(
    _ one: (object: ObjectReference, place: Int), _ other: (object: ObjectReference, place: Int), _ areSorted: Bool
  ) -> Bool {
    areSorted
      ? (one.place, one.object.reference) < (other.place, other.object.reference)
      : one.object.reference < other.object.reference
  }

  private func comesFirst(_ one: SourceRow, _ other: SourceRow, _ areSorted: Bool) -> Bool {
    func place(_ row: SourceRow) -> (object: ObjectReference, place: Int) {
      (row.reference, places[row.map.number] ?? 0)
    }
    return comesFirst(place(one), place(other), areSorted)
  }
}
