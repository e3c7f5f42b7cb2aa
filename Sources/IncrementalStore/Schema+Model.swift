import CoreData

extension Schema {
  /// Gives numbers to what the model has and the schema has not, and describes what both have as the model does.
  ///
  /// What was renamed keeps its number, if its renaming identifier is the old name.
  mutating func take(_ model: NSManagedObjectModel) {
    let described = model.entities.filter { $0.name != nil }.sorted {
      $0.depth == $1.depth ? $0.name! < $1.name! : $0.depth < $1.depth
    }
    let names = Set(described.compactMap(\.name))
    for entity in described { take(entity, names) }
    let numbers = SchemaNumbers(self)
    for entity in described {
      guard let place = entities.firstIndex(where: { $0.name == entity.name }) else { continue }
      describe(entity, at: place, numbers)
    }
    takeConstraints(of: described)
  }

  /// The entity and its properties have numbers then.
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
      if entities[place].properties.contains(where: { $0.name == property.name }) { continue }
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
    for property in entity.declaredProperties {
      guard let own = entities[place].properties.firstIndex(where: { $0.name == property.name }) else { continue }
      entities[place].properties[own].kind = kind(of: property, numbers)
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

  private mutating func takeConstraints(of described: [NSEntityDescription]) {
    let numbers = SchemaNumbers(self)
    for entity in described {
      guard let place = entities.firstIndex(where: { $0.name == entity.name }) else { continue }
      for names in entity.constraintNames {
        let attributes = names.compactMap { entity.attributesByName[$0].flatMap(numbers.property) }
        guard attributes.count == names.count,
          !entities[place].constraints.contains(where: { $0.attributes == attributes })
        else { continue }
        entities[place].constraints.append(Constraint(number: takeNumber(), attributes: attributes))
      }
    }
  }
}

extension NSEntityDescription {
  fileprivate var depth: Int { sequence(first: self, next: \.superentity).reduce(0) { depth, _ in depth + 1 } }

  /// Attributes and relationships that are stored and not inherited, by name.
  fileprivate var declaredProperties: [NSPropertyDescription] {
    properties.filter { property in
      property.declaringEntity === self && !property.isTransient
        && (property is NSAttributeDescription || property is NSRelationshipDescription)
    }.sorted { $0.name < $1.name }
  }
}
