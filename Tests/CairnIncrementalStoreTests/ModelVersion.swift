import CoreData

/// A version of a model, as a value that tests change step by step.
struct ModelVersion {
  struct Entity {
    /// What the entity is, whatever its name.
    var identity = 0
    var parent: String?
    var isAbstract = false
    var renaming: String?
    var properties: [String: Property] = [:]
    var constraints: [[String]] = []
    var indexes: [[String]] = []
  }

  struct Property {
    enum Kind {
      case attribute(NSAttributeType)
      case relationship(to: String, inverse: String?, isToMany: Bool, isOrdered: Bool)
    }

    var kind: Kind
    /// What the property is, whatever its name; several if properties of several entities become one.
    var identities: Set<Int> = []
    var isOptional = true
    var value: Any?
    var renaming: String?

    static func attribute(_ type: NSAttributeType, required value: Any? = nil) -> Property {
      Property(kind: .attribute(type), isOptional: value == nil, value: value)
    }

    static func toOne(_ destination: String, _ inverse: String? = nil) -> Property {
      Property(kind: .relationship(to: destination, inverse: inverse, isToMany: false, isOrdered: false))
    }

    static func toMany(_ destination: String, _ inverse: String? = nil, isOrdered: Bool = false) -> Property {
      Property(kind: .relationship(to: destination, inverse: inverse, isToMany: true, isOrdered: isOrdered))
    }
  }

  var entities: [String: Entity] = [:]

  /// The properties of an entity's objects, inherited ones included.
  func properties(of entity: String) -> [String: Property] {
    guard let own = entities[entity] else { return [:] }
    return own.properties.merging(own.parent.map(properties) ?? [:]) { own, _ in own }
  }

  /// The entity and those that inherit from it.
  func family(of entity: String) -> [String] {
    [entity] + entities.filter { $0.value.parent == entity }.keys.sorted().flatMap(family)
  }

  /// A version that is changed in some way.
  func changed(_ change: (inout ModelVersion) -> Void) -> ModelVersion {
    var copy = self
    change(&copy)
    return copy
  }

  var model: NSManagedObjectModel {
    var made: [String: NSEntityDescription] = [:]
    for name in entities.keys { made[name] = NSEntityDescription() }
    var relationships: [String: NSRelationshipDescription] = [:]
    for (name, entity) in entities {
      let description = made[name]!
      (description.name, description.isAbstract) = (name, entity.isAbstract)
      if let renaming = entity.renaming { description.renamingIdentifier = renaming }
      description.properties = entity.properties.sorted { $0.key < $1.key }.map { key, property in
        let made = Self.description(property, made)
        (made.name, made.isOptional) = (key, property.isOptional)
        if let renaming = property.renaming { made.renamingIdentifier = renaming }
        if let relationship = made as? NSRelationshipDescription { relationships["\(name).\(key)"] = relationship }
        return made
      }
      description.uniquenessConstraints = entity.constraints
    }
    for (name, entity) in entities {
      for (key, property) in entity.properties {
        guard case .relationship(let destination, let inverse?, _, _) = property.kind else { continue }
        relationships["\(name).\(key)"]!.inverseRelationship = relationships["\(destination).\(inverse)"]!
      }
      made[name]!.subentities = entities.filter { $0.value.parent == name }.keys.sorted().map { made[$0]! }
    }
    for (name, entity) in entities {
      made[name]!.indexes = entity.indexes.map { names in
        NSFetchIndexDescription(
          name: names.joined(separator: " "),
          elements: names.map {
            NSFetchIndexElementDescription(property: made[name]!.propertiesByName[$0]!, collationType: .binary)
          })
      }
    }
    let model = NSManagedObjectModel()
    model.entities = made.sorted { $0.key < $1.key }.map(\.value)
    return model
  }

  private static func description(
    _ property: Property, _ entities: [String: NSEntityDescription]
  ) -> NSPropertyDescription {
    switch property.kind {
    case .attribute(let type):
      let attribute = NSAttributeDescription()
      (attribute.attributeType, attribute.defaultValue) = (type, property.value)
      return attribute
    case .relationship(let destination, _, let isToMany, let isOrdered):
      let relationship = NSRelationshipDescription()
      relationship.destinationEntity = entities[destination]!
      relationship.maxCount = isToMany ? 0 : 1
      relationship.isOrdered = isOrdered
      relationship.deleteRule = .nullifyDeleteRule
      return relationship
    }
  }
}
