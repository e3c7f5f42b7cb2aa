/// The value of a property. Objects are represented by the numbers under which they were inserted, which are sorted if
/// the relationship has no order.
enum GraphValue: Hashable, Sendable {
  case number(Int?)
  case text(String?)
  case links([Int])

  /// The value of a relationship to these objects, in this order if the relationship is ordered.
  static func links(_ ids: [Int], of property: GraphProperty) -> GraphValue {
    .links(property.isOrdered ? ids : ids.sorted())
  }
}

/// An object's values in the store, or those that a context knows. To-many relationships that a context has not read
/// are missing.
struct GraphRow: Equatable, Sendable {
  var values: [GraphProperty: GraphValue] = [:]
  /// How often the object was saved.
  var version = 0

  /// An object that was just inserted.
  static let new: GraphRow = {
    var row = GraphRow()
    for property in GraphProperty.relationships { row.values[property] = .links([]) }
    row.values[.number] = .number(nil)
    row.values[.text] = .text("a")
    return row
  }()

  /// Nil if the relationship is not known.
  func links(_ property: GraphProperty) -> [Int]? {
    if case .links(let ids) = values[property] { ids } else { nil }
  }

  var number: Int? {
    if case .number(let number) = values[.number] { number } else { nil }
  }

  var text: String? {
    if case .text(let text) = values[.text] { text } else { nil }
  }

  /// The row without to-many relationships, which is what is read when a fault fires.
  var withoutToMany: GraphRow {
    GraphRow(values: values.filter { !$0.key.isToMany }, version: version)
  }
}

/// All rows of a store, by the numbers of their objects.
typealias Graph = [Int: GraphRow]

extension Graph {
  /// What is wrong with the relationships: references without their inverse, to objects that do not exist, or to one
  /// object twice.
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
