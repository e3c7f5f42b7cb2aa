import CoreData

/// Compares what stays with what it was before.
extension SchemaEvolution {
  mutating func compare(_ entity: NSEntityDescription) throws {
    guard let place = schema.entities.firstIndex(where: { $0.name == entity.name }) else { return }
    let mayHaveRows = ([entity] + entity.descendants).contains { formerEntities[$0.name ?? ""] != nil }
    if entity.isAbstract, let former = formerEntities[entity.name ?? ""], !former.isAbstract {
      mustBeEmpty.append((former, "becomes abstract"))
    }
    for property in entity.declaredProperties {
      guard let own = schema.entities[place].properties.firstIndex(where: { $0.name == property.name }) else {
        continue
      }
      let former = formerProperties[schema.entities[place].properties[own].number]
      switch property {
      case let attribute as NSAttributeDescription:
        let renewed = try former.map { try convert(attribute, of: entity, $0, place, own) } ?? false
        var compared = schema.entities[place].properties[own]
        try compare(attribute, of: entity, former, &compared, mayHaveRows, isConverted: renewed)
        schema.entities[place].properties[own] = compared
      case let relationship as NSRelationshipDescription:
        try compare(relationship, of: entity, former, place, own)
      default: break
      }
    }
  }

  /// Has the values of an attribute converted whose type has changed, under another number.
  ///
  /// - Returns: Whether the attribute has another number now.
  private mutating func convert(
    _ attribute: NSAttributeDescription, of entity: NSEntityDescription, _ former: Schema.Property, _ place: Int,
    _ own: Int
  ) throws -> Bool {
    guard case .attribute(let type) = former.kind, !Self.reads(type, attribute.attributeType) else { return false }
    let conversion = TypeConversion(
      attribute, from: type, coder, entity: entity.name ?? "",
      formerEntity: formerEntities[entity.name ?? ""]?.name ?? "")
    guard let conversion, schema.entities[place].properties[own].number == former.number else {
      throw failure("Source and destination attribute types of \(attribute.name) are incompatible", entity)
    }
    let number = schema.takeNumber()
    formerProperties[number] = formerProperties.removeValue(forKey: former.number)
    schema.entities[place].properties[own].number = number
    (schema.entities[place].properties[own].valueIfAbsent, schema.entities[place].properties[own].valueIfNull) = (
      nil, nil
    )
    rewrites.append(
      RowRewrite(
        self.former.family(of: declaring(former)).map(\.number), .convert(conversion, from: former.number, to: number)))
    return true
  }

  private mutating func compare(
    _ attribute: NSAttributeDescription, of entity: NSEntityDescription, _ former: Schema.Property?,
    _ property: inout Schema.Property, _ mayHaveRows: Bool, isConverted: Bool
  ) throws {
    let value = try storedDefault(of: attribute, property.number)
    let isRequired = !attribute.isOptional && !(attribute is NSDerivedAttributeDescription)
    guard let former else {
      guard mayHaveRows else { return }
      if isRequired, value == nil { throw missingDefault(attribute, entity) }
      property.valueIfAbsent = value
      return
    }
    guard case .attribute = former.kind else {
      throw failure("\(attribute.name) was a relationship and becomes an attribute", entity)
    }
    if isConverted {
      guard isRequired, former.isOptional || !self.former.knowsOptionality else { return }
      if former.isOptional, value == nil { throw missingDefault(attribute, entity) }
      property.valueIfNull = value
    } else if isRequired, former.isOptional || !self.former.knowsOptionality, former.valueIfNull == nil {
      if let value {
        property.valueIfNull = value
        renewed.insert(property.number)
      } else if former.isOptional {
        throw missingDefault(attribute, entity)
      }
    } else if attribute.isOptional, let value = former.valueIfNull {
      // From now on null means null again.
      property.valueIfNull = nil
      property.valueIfAbsent = former.valueIfAbsent ?? value
      rewrites.append(RowRewrite(self.former.family(of: declaring(former)).map(\.number), .complete))
    }
  }

  private func declaring(_ property: Schema.Property) -> UInt32 {
    former.entities.first { $0.properties.contains { $0.number == property.number } }?.number ?? 0
  }

  /// Whether all stored values of a type can be read as values of another.
  private static func reads(_ former: UInt32, _ type: NSAttributeType) -> Bool {
    let integers = [100, 200, 300]
    guard let old = integers.firstIndex(of: Int(former)), let new = integers.firstIndex(of: Int(type.rawValue)) else {
      return former == UInt32(type.rawValue)
    }
    return old <= new
  }

  /// The default value in the bytes of a row; nil for none.
  func storedDefault(of attribute: NSAttributeDescription, _ number: UInt32) throws -> Schema.StoredField? {
    guard let value = attribute.defaultValue else { return nil }
    var row = FieldWriter()
    try coder.write(ManagedValue(value, of: attribute), of: attribute, number, &row)
    guard let field = try FieldReader.field(number, of: row.bytes), field.type != .null else { return nil }
    return Schema.StoredField(field, of: row.bytes)
  }

  private mutating func compare(
    _ relationship: NSRelationshipDescription, of entity: NSEntityDescription, _ former: Schema.Property?,
    _ place: Int, _ own: Int
  ) throws {
    guard let former else { return }
    guard let end = former.kind.relationship else {
      throw failure("\(relationship.name) was an attribute and becomes a relationship", entity)
    }
    try checkDestination(relationship, end, entity)
    let pairs = RelationshipSource.Pairs(former)
    if pairs.isToMany, !relationship.isToMany {
      throw failure("The to-many relationship \(relationship.name) becomes to-one", entity)
    }
    if relationship.isToMany, !(pairs.isToMany && pairs.isOrdered == relationship.isOrdered) {
      // Entries of another kind need a number of their own. The rows or entries of the old number stay behind.
      let number = schema.takeNumber()
      formerProperties[number] = formerProperties.removeValue(forKey: former.number)
      schema.renumber(former.number, number, place, own)
      sources.append(
        RelationshipSource(
          number: number, isOrdered: relationship.isOrdered, pairs: pairs, areReversed: false,
          owners: self.former.family(of: declaring(former)).map(\.number)))
    }
    try checkInverse(relationship, end, former, pairs, entity)
  }

  private func checkDestination(
    _ relationship: NSRelationshipDescription, _ end: Schema.Relationship, _ entity: NSEntityDescription
  ) throws {
    guard let destination = relationship.destinationEntity,
      let new = model.describedEntities.first(where: { formerEntities[$0.name ?? ""]?.number == end.destination }),
      new === destination || new.ancestors.contains(where: { $0 === destination })
    else {
      let old = former.entities.first { $0.number == end.destination }?.name ?? "none"
      throw failure(
        "The destination of the relationship \(relationship.name) changes from \(old) to "
          + "\(relationship.destinationEntity?.name ?? "none")", entity)
    }
  }

  private mutating func checkInverse(
    _ relationship: NSRelationshipDescription, _ end: Schema.Relationship, _ former: Schema.Property,
    _ pairs: RelationshipSource.Pairs, _ entity: NSEntityDescription
  ) throws {
    guard let inverse = relationship.inverseRelationship, let number = SchemaNumbers(schema).property(inverse)
    else { return }
    if let staying = formerProperties[number] {
      guard staying.number == end.inverse else {
        throw failure("The relationship \(relationship.name) gets another inverse, \(inverse.name)", entity)
      }
      return
    }
    guard inverse.isToMany, !formerProperties.values.contains(where: { $0.number == end.inverse }) else {
      throw failure("The relationship \(relationship.name) gets a new inverse, \(inverse.name)", entity)
    }
    let owners = self.former.family(of: declaring(former)).map(\.number)
    guard inverse.isOrdered else {
      return sources.append(
        RelationshipSource(number: number, isOrdered: false, pairs: pairs, areReversed: true, owners: owners))
    }
    // In between, the entries lie sorted by their new owners, so that the members of each can be counted.
    let sorted = schema.takeNumber()
    sources += [
      RelationshipSource(number: sorted, isOrdered: false, pairs: pairs, areReversed: true, owners: owners),
      RelationshipSource(
        number: number, isOrdered: true, pairs: .entries(sorted, isOrdered: false), areReversed: false,
        owners: self.former.family(of: end.destination).map(\.number)),
    ]
  }
}

extension Schema {
  /// Gives a property another number, also where relationships refer to it as their inverse.
  fileprivate mutating func renumber(_ old: UInt32, _ new: UInt32, _ entity: Int, _ property: Int) {
    entities[entity].properties[property].number = new
    for (place, other) in entities.enumerated() {
      for (own, property) in other.properties.enumerated() {
        guard property.kind.relationship?.inverse == old else { continue }
        entities[place].properties[own].kind = property.kind.withInverse(new)
      }
    }
  }
}

extension Schema.Kind {
  fileprivate func withInverse(_ number: UInt32) -> Schema.Kind {
    switch self {
    case .attribute: return self
    case .toOne(var end):
      end.inverse = number
      return .toOne(end)
    case .toMany(var end, let isOrdered):
      end.inverse = number
      return .toMany(end, isOrdered: isOrdered)
    }
  }
}
