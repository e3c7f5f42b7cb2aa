import Foundation

/// Sets the values of a new object as its mapping says.
struct MappedValues {
  private let mapping: NSEntityMapping
  private let manager: NSMigrationManager
  private let policy: NSEntityMigrationPolicy
  private let source: NSManagedObject?
  private let object: NSManagedObject

  init(
    _ mapping: NSEntityMapping, _ manager: NSMigrationManager, _ policy: NSEntityMigrationPolicy,
    _ source: NSManagedObject?, _ object: NSManagedObject
  ) {
    self.mapping = mapping
    self.manager = manager
    self.policy = policy
    self.source = source
    self.object = object
  }

  func setAttributes() throws {
    guard let given = mapping.attributeMappings else {
      guard mapping.mappingType == .copyEntityMappingType, let source else { return }
      for (name, attribute) in object.entity.attributesByName
      where source.entity.attributesByName[name] != nil && !(attribute is NSDerivedAttributeDescription) {
        try set(source.value(forKey: name), for: attribute)
      }
      return
    }
    for property in given {
      guard let expression = property.valueExpression, let name = property.name,
        let attribute = object.entity.attributesByName[name]
      else { continue }
      try set(value(of: expression, property), for: attribute)
    }
  }

  func setRelationships() throws {
    guard let given = mapping.relationshipMappings else {
      guard mapping.mappingType == .copyEntityMappingType, let source else { return }
      for (name, relationship) in object.entity.relationshipsByName {
        guard source.entity.relationshipsByName[name] != nil else { continue }
        let related = Self.objects(in: source.value(forKey: name))
        try set(manager.destinationInstances(forSourceInstances: related), for: relationship)
      }
      return
    }
    for property in given {
      guard let expression = property.valueExpression, let name = property.name,
        let relationship = object.entity.relationshipsByName[name]
      else { continue }
      try set(Self.objects(in: value(of: expression, property)), for: relationship)
    }
  }

  private func value(of expression: NSExpression, _ property: NSPropertyMapping) -> Any? {
    // Without a detour through values of predicates, which are not of the same Swift type.
    if case .path(let key, let operand) = expression.form, case .variable(NSMigrationSourceObjectKey) = operand.form,
      let source, source.layout.place(of: key) != nil
    {
      return source.value(forKey: key)
    }
    let variables: [String: Any?] = [
      NSMigrationSourceObjectKey: source, NSMigrationDestinationObjectKey: object, NSMigrationManagerKey: manager,
      NSMigrationEntityPolicyKey: policy, NSMigrationEntityMappingKey: mapping, NSMigrationPropertyMappingKey: property,
    ]
    return expression.expressionValue(
      with: source, context: NSMutableDictionary(dictionary: variables.mapValues { $0 ?? NSNull() }))
  }

  private func set(_ value: Any?, for attribute: NSAttributeDescription) throws {
    guard ManagedValue(ifFit: value, for: attribute) != nil else {
      throw failure(
        attribute, "a value of the type \(value.map { "\(type(of: $0))" } ?? "nil"), which the attribute cannot have")
    }
    object.setValue(value, forKey: attribute.name)
  }

  private func set(_ values: [Any], for relationship: NSRelationshipDescription) throws {
    let objects = try values.map { value in
      guard let other = value as? NSManagedObject, other.managedObjectContext === manager.destinationContext,
        relationship.destinationEntity.map(other.entity.isKindOf(entity:)) ?? true
      else {
        throw failure(
          relationship, "\(value), which is no \(relationship.destinationEntity?.name ?? "object") of the destination")
      }
      return other
    }
    if !relationship.isToMany {
      object.setValue(objects.first, forKey: relationship.name)
    } else if relationship.isOrdered {
      object.setValue(NSOrderedSet(array: objects), forKey: relationship.name)
    } else {
      object.setValue(NSSet(array: objects), forKey: relationship.name)
    }
  }

  /// The value of a relationship as an array.
  static func objects(in value: Any?) -> [Any] {
    switch value {
    case nil, is NSNull: []
    case let set as NSOrderedSet: set.array
    case let set as NSSet: set.allObjects
    case let array as [Any]: array
    case let value?: [value]
    }
  }

  private func failure(_ property: NSPropertyDescription, _ reason: String) -> NSError {
    CoreDataError.make(
      NSMigrationError,
      "The mapping \(mapping.name ?? "") gives \(object.entity.name ?? "").\(property.name) \(reason).")
  }
}
