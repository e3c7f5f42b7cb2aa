import CoreData

/// The slots of the values of an entity's objects, by property name.
struct EntitySlots {
  private let places: [String: Int]

  init(_ entity: NSEntityDescription) {
    places = Dictionary(uniqueKeysWithValues: entity.propertiesByName.keys.sorted().enumerated().map { ($1, $0) })
  }

  /// The slot of a property; nil if the entity has no property of that name.
  func place(of name: String) -> Int? { places[name] }

  /// Null for each slot: the values before anything is read.
  var blank: [ManagedValue] { Array(repeating: .null, count: places.count) }
}

extension NSPropertyDescription {
  /// The topmost entity that has the property: subentities may have descriptions of their own.
  var declaringEntity: NSEntityDescription {
    var entity = entity
    while let superentity = entity.superentity, superentity.propertiesByName[name] != nil { entity = superentity }
    return entity
  }
}
