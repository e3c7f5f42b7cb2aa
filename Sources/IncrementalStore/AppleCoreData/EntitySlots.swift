import CoreData

/// Where the values of a row of an entity lie, by the names of its properties.
struct EntitySlots {
  private let places: [String: Int]

  init(_ entity: NSEntityDescription) {
    places = Dictionary(uniqueKeysWithValues: entity.propertiesByName.keys.sorted().enumerated().map { ($1, $0) })
  }

  /// The slot of a property; nil if the entity has none of the name.
  func place(of name: String) -> Int? { places[name] }

  /// A value for each slot, as long as nothing is read.
  var blank: [ManagedValue] { Array(repeating: .null, count: places.count) }
}

extension NSPropertyDescription {
  /// The entity that declares the property, of those that have it: subentities may have descriptions of their own.
  var declaringEntity: NSEntityDescription {
    var entity = entity
    while let superentity = entity.superentity, superentity.propertiesByName[name] != nil { entity = superentity }
    return entity
  }
}
