/// Looks up the parts of a schema by their numbers.
package struct SchemaIndex: Sendable {
  package struct Property: Sendable {
    package let property: Schema.Property
    /// The entity that declares it.
    package let entity: UInt32

    /// The inverse, if each is the inverse of the other.
    package fileprivate(set) var inverse: UInt32?
  }

  package struct Constraint: Sendable {
    package let constraint: Schema.Constraint
    package let entity: UInt32
  }

  package private(set) var entities: [UInt32: Schema.Entity] = [:]
  package private(set) var properties: [UInt32: Property] = [:]
  package private(set) var constraints: [UInt32: Constraint] = [:]
  package let indexes: [UInt32: Schema.Index]
  /// For each entity, the numbers of the entity and of all that inherit from it, in ascending order.
  package private(set) var families: [UInt32: [UInt32]] = [:]
  private let removals: Set<Schema.Removal>
  private let nextNumber: UInt32

  package init(_ schema: Schema) {
    indexes = Dictionary(schema.indexes.map { ($0.number, $0) }) { first, _ in first }
    removals = Set(schema.removals)
    nextNumber = schema.nextNumber
    for entity in schema.entities {
      entities[entity.number] = entity
      for property in entity.properties {
        properties[property.number] = Property(property: property, entity: entity.number)
      }
      for constraint in entity.constraints {
        constraints[constraint.number] = Constraint(constraint: constraint, entity: entity.number)
      }
    }
    for (number, property) in properties {
      guard let inverse = property.property.kind.relationship?.inverse,
        properties[inverse]?.property.kind.relationship?.inverse == number
      else { continue }
      properties[number]?.inverse = inverse
    }
    for number in entities.keys.sorted() {
      for ancestor in lineage(of: number) { families[ancestor.number, default: []].append(number) }
    }
  }

  /// The entity and those it inherits from, nearest first.
  package func lineage(of number: UInt32) -> [Schema.Entity] {
    Array(
      sequence(state: number) { next in
        let entity = entities[next]
        next = entity?.superentity ?? 0
        return entity
      })
  }

  package func has(_ entity: UInt32, propertiesOf ancestor: UInt32) -> Bool {
    families[ancestor]?.contains(entity) ?? false
  }

  /// Whether something that a migration has left behind is still to be removed.
  package func isBeingRemoved(_ removal: Schema.Removal) -> Bool { removals.contains(removal) }

  /// Whether a number may be that of an entity or a property that a migration has removed, or of a property that a
  /// migration which has not ended would have added. Rows keep its field.
  package func isUnassigned(_ number: UInt32) -> Bool {
    0 < number && number < nextNumber && properties[number] == nil && entities[number] == nil
      && constraints[number] == nil && indexes[number] == nil
  }

  package func name(_ object: ObjectReference) -> String {
    "\(entities[object.entity]?.name ?? "\(object.entity)") \(object.reference)"
  }
}
