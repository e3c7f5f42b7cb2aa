import CoreData

/// Checks what entities inherit, and lists what the store has for no entity any more.
extension SchemaEvolution {
  /// Objects must not leave the entities that relationships have as their destinations.
  mutating func checkInheritance(_ entities: [NSEntityDescription]) throws {
    let destinations = Set(
      schema.entities.flatMap(\.properties).compactMap { $0.kind.relationship?.destination })
    for old in former.entities {
      let staying = schema.entities.first { $0.number == old.number }
      let kept = staying.map { Set(schema.lineage(of: $0.number).map(\.number)) } ?? []
      let lineage = former.lineage(of: old.number).map(\.number)
      let lost = lineage.filter { !kept.contains($0) && (destinations.contains($0) || hasMembers($0)) }
      guard !lost.isEmpty else { continue }
      let reason = staying == nil ? "is removed, and inherits from an entity" : "no longer inherits from an entity"
      mustBeEmpty.append((old, "\(reason) whose relationships lead to or from its objects"))
    }
    for entity in entities {
      guard let old = formerEntities[entity.name ?? ""] else { continue }
      try completeInherited(entity, old)
    }
  }

  /// Whether an entity has a to-many relationship, in which its objects and those of its subentities have members.
  private func hasMembers(_ entity: UInt32) -> Bool {
    schema.entities.first { $0.number == entity }?.properties.contains { property in
      if case .toMany = property.kind { true } else { false }
    } ?? false
  }

  /// Objects whose entity gets another superentity need values for what they inherit now.
  private mutating func completeInherited(_ entity: NSEntityDescription, _ old: Schema.Entity) throws {
    let known = Set(former.lineage(of: old.number).flatMap(\.properties).map(\.number))
    for ancestor in [entity] + entity.ancestors {
      for case let attribute as NSAttributeDescription in ancestor.declaredProperties {
        guard let number = SchemaNumbers(schema).property(attribute), let property = formerProperties[number],
          !known.contains(property.number), !rewrites.contains(where: { $0.sets(number, in: old.number) })
        else { continue }
        if let own = old.properties.first(where: { $0.name == attribute.name }) {
          guard own.kind == property.kind else {
            throw failure("\(attribute.name) is inherited from now on, with another type", entity)
          }
          rewrites.append(RowRewrite([old.number], .copy(from: own.number, to: number)))
        } else if let value = try storedDefault(of: attribute, number) {
          rewrites.append(RowRewrite([old.number], .add(value, to: number)))
        } else if !attribute.isOptional {
          throw missingDefault(attribute, entity)
        }
      }
    }
  }

  /// Gives new numbers to the constraints and indexes of properties whose nulls have another value from now on, and to
  /// the constraints that other entities than before inherit.
  mutating func renewKeys() {
    for (place, entity) in schema.entities.enumerated() where !entity.constraints.isEmpty {
      let hasOtherHeirs =
        Set(former.family(of: entity.number).map(\.number)) != schema.tables(of: entity.number, knownTo: former)
      schema.entities[place].constraints.removeAll { hasOtherHeirs || !renewed.isDisjoint(with: $0.attributes) }
    }
    schema.indexes.removeAll { index in
      guard !renewed.isDisjoint(with: index.properties + index.conditions.map(\.property)) else { return false }
      schema.removals.append(.entries(index.number))
      return true
    }
  }

  /// Lists what the model no longer has, so that it is removed from the store after the migration.
  mutating func removeRest() {
    let entities = Set(schema.entities.map(\.number))
    let properties = Set(schema.entities.flatMap(\.properties).map(\.number))
    for entity in former.entities {
      if !entities.contains(entity.number) { schema.removals.append(.table(entity.number)) }
      for property in entity.properties where !properties.contains(property.number) {
        if case .toMany = property.kind { schema.removals.append(.entries(property.number)) }
      }
    }
    let constraints = Set(schema.entities.flatMap(\.constraints).map(\.number))
    for constraint in former.entities.flatMap(\.constraints) where !constraints.contains(constraint.number) {
      schema.removals.append(.entries(constraint.number))
    }
    // An index whose entity or properties are gone is no longer described.
    schema.indexes.removeAll { index in
      guard
        !entities.contains(index.entity) || !properties.isSuperset(of: index.properties)
          || !properties.isSuperset(of: index.conditions.map(\.property))
      else { return false }
      schema.removals.append(.entries(index.number))
      return true
    }
    // A migration that has not ended lists what it has made, in case that it never ends.
    let made = properties.union(constraints)
    schema.removals.removeAll { made.contains($0.number) }
  }
}
