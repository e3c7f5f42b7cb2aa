import Foundation

/// What a row of the in-memory store keeps of its object, in which order: all properties that are stored, those of the superentity first,
/// so that rows of subentities have them in the same places.
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
