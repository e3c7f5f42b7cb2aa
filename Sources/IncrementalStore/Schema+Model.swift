import CoreData

extension Schema {
  /// Gives numbers to the entities, properties and constraints that are new in the model, and updates the description
  /// of the others from the model.
  ///
  /// A renamed entity or property keeps its number if its renaming identifier is the old name.
  mutating func take(_ model: NSManagedObjectModel) {
    let former = self
    let described = model.describedEntities
    let names = Set(described.compactMap(\.name))
    for entity in described { take(entity, names) }
    describe(described)
    takeConstraints(of: described)
    takeIndexes(of: described, former)
  }

  /// Updates the descriptions of entities and their properties, which have numbers, from a model.
  mutating func describe(_ described: [NSEntityDescription]) {
    let numbers = SchemaNumbers(self)
    for entity in described {
      guard let place = entities.firstIndex(where: { $0.name == entity.name }) else { continue }
      describe(entity, at: place, numbers)
    }
    knowsOptionality = true
  }

  /// Gives numbers to an entity and the properties that it declares.
  private mutating func take(_ entity: NSEntityDescription, _ names: Set<String>) {
    let name = entity.name ?? ""
    let place: Int
    if let found = entities.firstIndex(where: { $0.name == name })
      ?? entities.firstIndex(where: { $0.name == entity.renamingIdentifier && !names.contains($0.name) })
    {
      place = found
      entities[place].name = name
    } else {
      entities.append(Entity(number: takeNumber(), name: name, superentity: 0, isAbstract: false))
      place = entities.count - 1
    }
    let properties = entity.declaredProperties
    let propertyNames = Set(properties.map(\.name))
    for property in properties {
      if let same = entities[place].properties.firstIndex(where: { $0.name == property.name }) {
        if entities[place].properties[same].kind.hasValues(of: property) { continue }
        // The values stored under the old number are of another kind, and stay there.
        entities[place].properties[same].name += " (\(entities[place].properties[same].number))"
      }
      if let old = entities[place].properties.firstIndex(where: {
        $0.name == property.renamingIdentifier && !propertyNames.contains($0.name)
      }) {
        entities[place].properties[old].name = property.name
      } else {
        entities[place].properties.append(
          Property(number: takeNumber(), name: property.name, kind: .attribute(0)))
      }
    }
  }

  private mutating func describe(_ entity: NSEntityDescription, at place: Int, _ numbers: SchemaNumbers) {
    entities[place].superentity = entity.superentity.flatMap(numbers.entity) ?? 0
    entities[place].isAbstract = entity.isAbstract
    entities[place].renamingIdentifier = entity.renamingIdentifier ?? entity.name ?? ""
    for property in entity.declaredProperties {
      guard let own = entities[place].properties.firstIndex(where: { $0.name == property.name }) else { continue }
      entities[place].properties[own].kind = kind(of: property, numbers)
      entities[place].properties[own].isOptional = property.isOptional
      entities[place].properties[own].renamingIdentifier = property.renamingIdentifier ?? property.name
    }
  }

  private func kind(of property: NSPropertyDescription, _ numbers: SchemaNumbers) -> Kind {
    guard let relationship = property as? NSRelationshipDescription else {
      return .attribute(UInt32((property as? NSAttributeDescription)?.attributeType.rawValue ?? 0))
    }
    let end = Relationship(
      destination: relationship.destinationEntity.flatMap(numbers.entity) ?? 0,
      inverse: relationship.inverseRelationship.flatMap(numbers.property) ?? 0,
      deleteRule: UInt8(relationship.deleteRule.rawValue))
    return relationship.isToMany ? .toMany(end, isOrdered: relationship.isOrdered) : .toOne(end)
  }

  mutating func takeConstraints(of described: [NSEntityDescription]) {
    let numbers = SchemaNumbers(self)
    for entity in described {
      guard let place = entities.firstIndex(where: { $0.name == entity.name }) else { continue }
      let wanted = entity.constraintNames.compactMap { names in
        let attributes = names.compactMap { entity.attributesByName[$0].flatMap(numbers.property) }
        return attributes.count == names.count ? attributes : nil
      }
      // Constraints that the model no longer has are forgotten, together with their keys, which nothing would update
      // any more.
      entities[place].constraints.removeAll { !wanted.contains($0.attributes) }
      for attributes in wanted where !entities[place].constraints.contains(where: { $0.attributes == attributes }) {
        entities[place].constraints.append(Constraint(number: takeNumber(), attributes: attributes))
      }
    }
  }
}

extension NSManagedObjectModel {
  /// The entities, superentities first.
  var describedEntities: [NSEntityDescription] {
    entities.filter { $0.name != nil }.sorted {
      $0.depth == $1.depth ? $0.name! < $1.name! : $0.depth < $1.depth
    }
  }
}

extension NSEntityDescription {
  fileprivate var depth: Int { sequence(first: self, next: \.superentity).reduce(0) { depth, _ in depth + 1 } }

  /// Stored attributes and relationships that are not inherited, by name.
  var declaredProperties: [NSPropertyDescription] {
    properties.filter { property in
      property.declaringEntity === self && !property.isTransient
        && (property is NSAttributeDescription || property is NSRelationshipDescription)
    }.sorted { $0.name < $1.name }
  }
}

extension Schema.Kind {
  /// Whether values stored for a property of this kind can be read as values of `property`.
  fileprivate func hasValues(of property: NSPropertyDescription) -> Bool {
    switch (self, property) {
    case (.attribute(let type), let attribute as NSAttributeDescription):
      type == 0 || Self.group(type) == Self.group(UInt32(attribute.attributeType.rawValue))
    case (.toOne, let relationship as NSRelationshipDescription): !relationship.isToMany
    case (.toMany(_, let isOrdered), let relationship as NSRelationshipDescription):
      relationship.isToMany && relationship.isOrdered == isOrdered
    default: false
    }
  }

  /// Integers of all sizes are stored alike.
  private static func group(_ attributeType: UInt32) -> UInt32 {
    [100, 200, 300].contains(attributeType) ? 300 : attributeType
  }
}
