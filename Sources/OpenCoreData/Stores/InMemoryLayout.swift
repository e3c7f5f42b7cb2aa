import Foundation

/// The properties that a row of the in-memory store contains, in their order: all stored properties, those of the
/// superentity first, so that they have the same places in rows of subentities.
struct InMemoryLayout {
  let properties: [NSPropertyDescription]
  private let slots: [String: Int]

  init(_ entity: NSEntityDescription) {
    properties = entity.properties.filter { property in
      !property.isTransient && (property is NSAttributeDescription || property is NSRelationshipDescription)
    }
    slots = Dictionary(zip(properties.map(\.name), properties.indices)) { $1 }
  }

  func slot(of name: String) -> Int? { slots[name] }
}
