/// The value of a property. Objects are the numbers they were inserted under; those of a relationship without an
/// order are sorted.
enum GraphValue: Hashable, Sendable {
  case number(Int?)
  case text(String?)
  case links([Int])

  /// Of a relationship that has them in this order, if it has an order.
  static func links(_ ids: [Int], of property: GraphProperty) -> GraphValue {
    .links(property.isOrdered ? ids : ids.sorted())
  }
}

/// What a store has of an object, or a context knows of it: to-many relationships that were not asked for are missing
/// then.
struct GraphRow: Equatable, Sendable {
  var values: [GraphProperty: GraphValue] = [:]
  /// How often it was saved.
  var version = 0

  /// An object that was just made.
  static let new: GraphRow = {
    var row = GraphRow()
    for property in GraphProperty.relationships { row.values[property] = .links([]) }
    row.values[.number] = .number(nil)
    row.values[.text] = .text("a")
    return row
  }()

  /// Nil if it is not known.
  func links(_ property: GraphProperty) -> [Int]? {
    if case .links(let ids) = values[property] { ids } else { nil }
  }

  var number: Int? {
    if case .number(let number) = values[.number] { number } else { nil }
  }

  var text: String? {
    if case .text(let text) = values[.text] { text } else { nil }
  }

  /// Without to-many relationships: what is read when a fault fires.
  var withoutToMany: GraphRow {
    GraphRow(values: values.filter { !$0.key.isToMany }, version: version)
  }
}

/// All rows of a store, by the numbers of their objects.
typealias Graph = [Int: GraphRow]

extension Graph {
  /// What is wrong with the relationships: objects that know each other one way only, or know what does not exist.
  var faults: [String] {
    var faults: [String] = []
    for (id, row) in sorted(by: { $0.key < $1.key }) {
      for property in GraphProperty.relationships {
        guard let inverse = property.inverse, let links = row.links(property) else { continue }
        if Set(links).count < links.count { faults.append("\(id).\(property) is \(links)") }
        for other in links {
          guard let back = self[other]?.links(inverse) else {
            if !property.mayDangle { faults.append("\(id).\(property) has \(other), which does not exist") }
            continue
          }
          if !back.contains(id) { faults.append("\(id).\(property) has \(other), but \(other).\(inverse) is \(back)") }
        }
      }
    }
    return faults
  }
}
