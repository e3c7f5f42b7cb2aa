/// The things of a store, by their serial numbers.
typealias Graph = [Int: GraphRow]

/// A thing as plain values.
struct GraphRow: Equatable, Sendable {
  /// The number in its permanent identifier; 0 before it has one.
  var reference: Int64 = 0
  let isSpecial: Bool
  /// The attributes that are not nil.
  private(set) var values: [Attribute: GraphValue] = [:]
  /// The serial numbers of related things, in their order if the relationship is ordered, otherwise ascending. Empty
  /// relationships are left out.
  private(set) var links: [Relation: [Int]] = [:]

  init(isSpecial: Bool) { self.isSpecial = isSpecial }

  subscript(attribute: Attribute) -> GraphValue? {
    get { values[attribute] }
    set { values[attribute] = newValue }
  }

  subscript(relation: Relation) -> [Int] {
    get { links[relation] ?? [] }
    set { links[relation] = newValue.isEmpty ? nil : relation.isOrdered ? newValue : newValue.sorted() }
  }
}

enum GraphValue: Hashable, Sendable {
  case number(Int64)
  case text(String)
}

extension Graph {
  /// Describes the first eight differences from another graph.
  func difference(from other: Graph) -> String {
    let lines = Set(keys).union(other.keys).sorted().flatMap { serial -> [String] in
      switch (self[serial], other[serial]) {
      case (nil, _): return ["\(serial) is not there"]
      case (_, nil): return ["\(serial) should not be there"]
      case (let found?, let wanted?): return found.difference(from: wanted).map { "\(serial) \($0)" }
      }
    }
    return lines.prefix(8).joined(separator: "; ")
  }
}

extension GraphRow {
  fileprivate func difference(from other: GraphRow) -> [String] {
    let head =
      isSpecial == other.isSpecial && reference == other.reference
      ? [] : ["has the number \(reference), not \(other.reference)"]
    let values = Attribute.allCases.filter { self[$0] != other[$0] }
      .map { "has the \($0) \(String(describing: self[$0])), not \(String(describing: other[$0]))" }
    let links = Relation.allCases.filter { self[$0] != other[$0] }
      .map { "has the \($0) \(self[$0]), not \(other[$0])" }
    return head + values + links
  }
}
