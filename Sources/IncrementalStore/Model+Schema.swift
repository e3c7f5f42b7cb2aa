package import CoreData

extension NSManagedObjectModel {
  /// The model that a schema describes, with as much detail as predicates need: all properties are optional, and the
  /// model lacks what a schema does not describe: the elements of composite attributes and the transformers of
  /// transformable ones.
  package convenience init(_ schema: Schema) {
    self.init()
    var described: [UInt32: NSEntityDescription] = [:]
    for entity in schema.entities {
      let description = NSEntityDescription()
      (description.name, description.isAbstract) = (entity.name, entity.isAbstract)
      described[entity.number] = description
    }
    for entity in schema.entities {
      described[entity.number]?.subentities = schema.entities.filter { $0.superentity == entity.number }
        .compactMap { described[$0.number] }
    }
    var relationships: [UInt32: NSRelationshipDescription] = [:]
    for entity in schema.entities {
      described[entity.number]?.properties = schema.declaredProperties(of: entity).compactMap { property in
        switch property.kind {
        case .attribute(let type): return NSAttributeDescription(property.name, type)
        case .toOne(let end), .toMany(let end, _):
          let relationship = NSRelationshipDescription(property, described[end.destination])
          relationships[property.number] = relationship
          return relationship
        }
      }
    }
    for property in schema.entities.flatMap(\.properties) {
      guard let relationship = relationships[property.number],
        let inverse = property.kind.relationship.flatMap({ relationships[$0.inverse] })
      else { continue }
      relationship.inverseRelationship = inverse
    }
    entities = schema.entities.compactMap { described[$0.number] }
  }
}

extension Schema {
  /// The properties that the entity declares, without those that have moved to another entity of its lineage or family.
  fileprivate func declaredProperties(of entity: Entity) -> [Property] {
    let relatives = lineage(of: entity.number) + family(of: entity.number)
    return entity.properties.filter { property in
      relatives.allSatisfy { relative in
        relative.properties.allSatisfy { $0.name != property.name || $0.number <= property.number }
      }
    }
  }
}

extension NSAttributeDescription {
  fileprivate convenience init?(_ name: String, _ rawType: UInt32) {
    guard let type = NSAttributeType(rawValue: UInt(rawType)) else { return nil }
    switch type {
    case .undefinedAttributeType, .transformableAttributeType, .compositeAttributeType: return nil
    default: break
    }
    self.init()
    (self.name, attributeType, isOptional) = (name, type, true)
  }
}

extension NSRelationshipDescription {
  fileprivate convenience init(_ property: Schema.Property, _ destination: NSEntityDescription?) {
    self.init()
    (name, destinationEntity, isOptional) = (property.name, destination, true)
    switch property.kind {
    case .attribute, .toOne: maxCount = 1
    case .toMany(_, let isOrdered): self.isOrdered = isOrdered
    }
  }
}
