import CoreData

/// The entries of a declared index among which are those of all rows that satisfy some predicates.
struct IndexSection {
  /// Which entries: those from `lower` on and before `upper`.
  struct Range {
    let lower: [UInt8]
    let upper: [UInt8]?
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
    return "the index on \(names.joined(separator: ", "))\(values)"
  }
}

/// A declared index whose entries come in the order that a fetch asks for.
struct IndexOrder {
  let section: IndexSection
  /// How many properties of the index order the rows as the fetch does. Rows with the same values of these stand in an
  /// order that only the rows tell.
  let properties: Int
  let isReversed: Bool
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
    indexes.map { section(of: $0, parts) }.filter { $0.restricted > 0 }
      .sorted { $0.restricted > $1.restricted }.map(\.section)
  }

  /// An index that has the rows in the order of sort descriptors, or the order of the first of them.
  func order(for descriptors: [NSSortDescriptor], _ parts: [NSPredicate]) -> IndexOrder? {
    guard let first = descriptors.first else { return nil }
    for index in indexes {
      guard let names = names(of: index) else { continue }
      let section = section(of: index, parts)
      // Properties that have one value do not matter for the order.
      let fixed = section.fixed
      guard section.section.ranges.count == 1 else { continue }
      var ordered = 0
      while ordered < descriptors.count, fixed + ordered < names.count,
        descriptors[ordered].plainKey == names[fixed + ordered], descriptors[ordered].ascending == first.ascending,
        isOrdered(names[fixed + ordered])
      {
        ordered += 1
      }
      guard ordered > 0 else { continue }
      return IndexOrder(section: section.section, properties: fixed + ordered, isReversed: !first.ascending)
    }
    return nil
  }

  private func names(of index: Schema.Index) -> [String]? {
    let names = index.properties.compactMap { number in map.fields.first { $0.number == number }?.name }
    return names.count == index.properties.count ? names : nil
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

  /// The section of an index, how many of its first properties must have one value each, and how many are restricted.
  private func section(
    of index: Schema.Index, _ parts: [NSPredicate]
  ) -> (section: IndexSection, fixed: Int, restricted: Int) {
    let comparisons = parts.compactMap { $0 as? NSComparisonPredicate }
    var keys = [Entry.all(of: index.number)]
    var (fixed, restricted, exact, isWhole) = (0, 0, 0, true)
    var ranges: [IndexSection.Range]?
    for number in index.properties where isWhole && ranges == nil {
      guard let field = map.fields.first(where: { $0.number == number }) else { break }
      var condition = IndexCondition()
      for comparison in comparisons { condition.take(comparison, of: field, access) }
      if let values = condition.values, values.count <= Self.mostRanges / max(keys.count, 1) {
        keys = keys.flatMap { key in
          values.map { value in
            var output = ByteOutput()
            output.append(key)
            isWhole = output.indexed(value) && isWhole
            return output.bytes
          }
        }
        if fixed == restricted, values.count == 1, isWhole { fixed += 1 }
        restricted += 1
        exact += condition.exactPredicates
      } else if condition.isRange {
        ranges = keys.map { condition.range(in: $0) }
        restricted += 1
      } else {
        break
      }
    }
    let names = names(of: index) ?? []
    let isExact = isWhole && ranges == nil && exact == parts.count
    let all = ranges ?? Set(keys).map { IndexSection.Range(lower: $0, upper: Entry.successor(of: $0)) }
    let section = IndexSection(index: index, names: names, ranges: all, isExact: isExact)
    return (section, fixed, names.isEmpty ? 0 : restricted)
  }
}

extension IndexCondition {
  /// The entries that begin with a key and then have a value in the range of the condition, or a little more.
  fileprivate func range(in key: [UInt8]) -> IndexSection.Range {
    func bytes(_ write: (inout ByteOutput) -> Void) -> [UInt8] {
      var output = ByteOutput()
      output.append(key)
      write(&output)
      return output.bytes
    }
    if let prefix {
      let bytes = bytes { $0.indexed(prefix: prefix) }
      return IndexSection.Range(lower: bytes, upper: Entry.successor(of: bytes))
    }
    let type = bytes { output in (lower ?? upper).map { output.indexed(typeOf: $0) } }
    let first = lower.map { value in bytes { output in _ = output.indexed(value) } } ?? type
    let last = upper.map { value in bytes { output in _ = output.indexed(value) } } ?? type
    return IndexSection.Range(lower: first, upper: Entry.successor(of: last))
  }
}

extension NSSortDescriptor {
  /// The key, if the descriptor compares its values in the plain order.
  fileprivate var plainKey: String? {
    selector == NSSelectorFromString("compare:") ? key : nil
  }
}
