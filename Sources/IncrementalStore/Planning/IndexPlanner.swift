import CoreData

/// The entries of a declared index among which are those of all rows that satisfy some predicates.
struct IndexSection {
  /// Which entries: those from `lower` on and before `upper`.
  struct Range {
    let lower: [UInt8]
    let upper: [UInt8]?

    init(lower: [UInt8], upper: [UInt8]?) {
      self.lower = lower
      self.upper = upper
    }

    init(beginningWith prefix: [UInt8]) { self.init(lower: prefix, upper: Entry.successor(of: prefix)) }
  }

  let index: Schema.Index
  /// The names of the index's properties.
  let names: [String]
  let ranges: [Range]
  /// Whether the entries are those of rows that satisfy all the predicates, and of no others.
  let isExact: Bool
}

extension IndexSection: CustomStringConvertible {
  var description: String {
    let values = ranges.count == 1 ? "" : ", \(ranges.count) ranges"
    return "the \(index.conditions.isEmpty ? "" : "partial ")index on \(names.joined(separator: ", "))\(values)"
  }
}

/// A declared index whose entries come in the order that a fetch asks for.
struct IndexOrder {
  let section: IndexSection
  /// How many properties of the index have one value each, or order the rows as the fetch does.
  let properties: Int
  let isReversed: Bool
  /// Whether the rows of the section are those that satisfy the predicate, and whole values of the properties order
  /// them as all sort descriptors do.
  let isExact: Bool
}

extension IndexOrder: CustomStringConvertible {
  var description: String { "in the order of \(section)" }
}

/// Finds what the ready indexes of an entity know about predicates and orders. It reads nothing.
struct IndexPlanner {
  /// The most combinations of values for which ranges are made.
  private static let mostRanges = 10_000

  let map: EntityMap
  let access: RowAccess
  let indexes: [Schema.Index]

  /// The sections for predicates that must all be satisfied, those first for which more is known about the rows.
  func sections(for parts: [NSPredicate]) -> [IndexSection] {
    guard !indexes.isEmpty else { return [] }
    return indexes.filter { isUseful($0, parts) && has($0, allThatSatisfy: parts) }.map { section(of: $0, parts) }
      .filter { $0.restricted > 0 }.sorted { $0.restricted > $1.restricted }.map(\.section)
  }

  /// Whether predicates may restrict the entries of an index: they mention its first property, or it is partial.
  private func isUseful(_ index: Schema.Index, _ parts: [NSPredicate]) -> Bool {
    guard index.conditions.isEmpty else { return true }
    guard let field = map.fields.first(where: { $0.number == index.properties.first }) else { return false }
    return parts.contains { ($0 as? NSComparisonPredicate)?.mentions(field.name) ?? false }
  }

  /// The index that has the rows in the order of sort descriptors, or of the first of them, and whose section is the
  /// most restricted.
  func order(for descriptors: [NSSortDescriptor], _ parts: [NSPredicate]) -> IndexOrder? {
    indexes.compactMap { order(of: $0, descriptors, parts) }
      .max { ($0.restricted, $0.order.properties) < ($1.restricted, $1.order.properties) }?.order
  }

  private func order(
    of index: Schema.Index, _ descriptors: [NSSortDescriptor], _ parts: [NSPredicate]
  ) -> (order: IndexOrder, restricted: Int)? {
    guard let first = descriptors.first, let names = names(of: index), has(index, allThatSatisfy: parts)
    else { return nil }
    // Properties that have one value do not matter for the order.
    let (section, fixed, restricted) = section(of: index, parts)
    guard section.ranges.count == 1 else { return nil }
    let ordered = zip(descriptors, names.dropFirst(fixed)).prefix { descriptor, name in
      descriptor.plainKey == name && descriptor.ascending == first.ascending && isOrdered(name)
    }.count
    guard ordered > 0 else { return nil }
    let order = IndexOrder(
      section: section, properties: fixed + ordered, isReversed: !first.ascending,
      isExact: section.isExact && ordered == descriptors.count)
    return (order, restricted)
  }

  func names(of index: Schema.Index) -> [String]? {
    let names = index.properties.compactMap { number in map.fields.first { $0.number == number }?.name }
    return names.count == index.properties.count ? names : nil
  }

  /// The number of the property by which a sort descriptor orders rows, if an index would order them as it does.
  func property(orderedBy descriptor: NSSortDescriptor) -> UInt32? {
    guard let name = descriptor.plainKey, isOrdered(name), let field = map.field(named: name),
      case .attribute(let attribute) = field.kind
    else { return nil }
    return switch attribute.attributeType {
    // No index has such values.
    case .URIAttributeType, .transformableAttributeType, .compositeAttributeType, .objectIDAttributeType,
      .undefinedAttributeType:
      nil
    default: field.number
    }
  }

  /// Whether an index orders the values of a property as a sort descriptor does. Data and objects have another order
  /// there.
  private func isOrdered(_ name: String) -> Bool {
    guard case .attribute(let attribute) = map.field(named: name)?.kind else { return false }
    return switch attribute.attributeType {
    case .binaryDataAttributeType: false
    case .stringAttributeType: RowCollector.ordersTextsByScalars
    default: true
    }
  }

  /// Whether all rows that satisfy some predicates are in an index, which may be partial.
  func has(_ index: Schema.Index, allThatSatisfy parts: [NSPredicate]) -> Bool {
    index.conditions.allSatisfy { condition in
      parts.contains { self.condition($0) == condition } || areInside(condition, parts)
    }
  }

  private func condition(_ part: NSPredicate) -> Schema.Index.Condition? {
    Schema.Index.Condition(part) { name in
      map.field(named: name).flatMap { field in map.entity.propertiesByName[name].map { (field.number, $0) } }
    }
  }

  /// Whether predicates list values of the property of a condition, for all of which it is true.
  private func areInside(_ condition: Schema.Index.Condition, _ parts: [NSPredicate]) -> Bool {
    guard let field = map.fields.first(where: { $0.number == condition.property }) else { return false }
    var listed = IndexCondition()
    for case let comparison as NSComparisonPredicate in parts { listed.take(comparison, of: field, access) }
    return listed.values?.allSatisfy { value in
      var output = ByteOutput()
      _ = output.indexed(value)
      return condition.holds(for: output.bytes)
    } ?? false
  }

  /// The section of an index, how many of its first properties must have one value each, and how many are restricted.
  func section(
    of index: Schema.Index, _ parts: [NSPredicate]
  ) -> (section: IndexSection, fixed: Int, restricted: Int) {
    var keys = [Entry.all(of: index.number)]
    var (fixed, restricted, isWhole) = (0, index.conditions.count, true)
    // The places of the predicates that are true for all rows of the section.
    var exact: Set<Int> = []
    if !index.conditions.isEmpty {
      exact.formUnion(parts.indices.filter { condition(parts[$0]).map(index.conditions.contains) ?? false })
    }
    var ranges: [IndexSection.Range]?
    for number in index.properties where isWhole && ranges == nil {
      guard let field = map.fields.first(where: { $0.number == number }) else { break }
      var condition = IndexCondition()
      // The places of the predicates that are true for exactly the listed values, or for those in the range.
      var (listed, bounded): ([Int], [Int]) = ([], [])
      for (place, part) in parts.enumerated() {
        guard let comparison = part as? NSComparisonPredicate else { continue }
        switch condition.take(comparison, of: field, access) {
        case .values: listed.append(place)
        case .range: bounded.append(place)
        case .some: break
        }
      }
      if let values = condition.values, values.count <= Self.mostRanges / max(keys.count, 1) {
        keys = keys.flatMap { key in
          values.map { value in
            var output = ByteOutput()
            output.append(key)
            isWhole = output.indexed(value) && isWhole
            return output.bytes
          }
        }
        if fixed == restricted - index.conditions.count, values.count == 1, isWhole { fixed += 1 }
        restricted += 1
        exact.formUnion(listed)
      } else if condition.isRange {
        ranges = keys.map { condition.range(in: $0) }
        exact.formUnion(bounded)
        restricted += 1
      } else {
        break
      }
    }
    let names = names(of: index) ?? []
    let isExact = isWhole && exact.count == parts.count
    let all = ranges ?? Set(keys).map(IndexSection.Range.init(beginningWith:))
    let section = IndexSection(index: index, names: names, ranges: all, isExact: isExact)
    return (section, fixed, names.isEmpty ? 0 : restricted)
  }
}

extension IndexCondition {
  /// The entries that begin with a key and then have a value in the range of the condition.
  fileprivate func range(in key: [UInt8]) -> IndexSection.Range {
    func bytes(_ write: (inout ByteOutput) -> Void) -> [UInt8] {
      var output = ByteOutput()
      output.append(key)
      write(&output)
      return output.bytes
    }
    if let prefix {
      return IndexSection.Range(beginningWith: bytes { $0.indexed(prefix: prefix) })
    }
    let type = bytes { output in (lower ?? upper).map { output.indexed(typeOf: $0.value) } }
    func before(_ bound: Bound) -> [UInt8] { bytes { output in _ = output.indexed(bound.value) } }
    // No entry consists of nothing but greatest bytes.
    func after(_ key: [UInt8]) -> [UInt8] { Entry.successor(of: key) ?? key }
    let first = lower.map { $0.excludesValue ? after(before($0)) : before($0) } ?? type
    let end = upper.map { $0.excludesValue ? before($0) : after(before($0)) } ?? after(type)
    return IndexSection.Range(lower: first, upper: end)
  }
}

extension NSSortDescriptor {
  /// The key, if the descriptor compares its values in the plain order.
  fileprivate var plainKey: String? {
    selector == NSSelectorFromString("compare:") ? key : nil
  }
}
