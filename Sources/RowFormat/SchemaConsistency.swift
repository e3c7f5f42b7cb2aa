/// Checks that the numbers and names in a schema are unique, that each number leads to an entity or property of the
/// schema, and that no entity inherits from itself: STORE-FORMAT.md, section 5.
enum SchemaConsistency {
  /// What is wrong, in words; nil if nothing is.
  static func problem(of schema: Schema) -> String? {
    guard (1...Schema.highestNextNumber).contains(schema.nextNumber) else {
      return "the next number is \(schema.nextNumber), which is out of range"
    }
    return duplicate(in: schema) ?? unknown(in: schema) ?? circle(in: schema)
  }

  private static func duplicate(in schema: Schema) -> String? {
    var numbers: Set<UInt32> = []
    var names: Set<String> = []
    func isNew(_ number: UInt32) -> Bool { number > 0 && number < schema.nextNumber && numbers.insert(number).inserted }
    for entity in schema.entities {
      guard isNew(entity.number) else {
        return "the number \(entity.number) of an entity is used twice or has not been assigned"
      }
      guard names.insert(entity.name).inserted else { return "two entities have the name \(entity.name)" }
      var propertyNames: Set<String> = []
      for property in entity.properties {
        guard isNew(property.number) else {
          return "the number \(property.number) of a property is used twice or has not been assigned"
        }
        guard propertyNames.insert(property.name).inserted else {
          return "two properties of \(entity.name) have the name \(property.name)"
        }
      }
      for constraint in entity.constraints where !isNew(constraint.number) {
        return "the number \(constraint.number) of a constraint is used twice or has not been assigned"
      }
    }
    for index in schema.indexes where !isNew(index.number) {
      return "the number \(index.number) of an index is used twice or has not been assigned"
    }
    for removal in schema.removals where !isNew(removal.number) {
      return "the number \(removal.number) of what is to be removed is in use or has not been assigned"
    }
    return nil
  }

  private static func unknown(in schema: Schema) -> String? {
    let entities = Set([0] + schema.entities.map(\.number))
    let properties = Set([0] + schema.entities.flatMap { $0.properties.map(\.number) })
    for entity in schema.entities {
      guard entities.contains(entity.superentity) else { return "the superentity of \(entity.name) does not exist" }
      for property in entity.properties {
        guard let end = property.kind.relationship else { continue }
        guard property.valueIfAbsent == nil, property.valueIfNull == nil else {
          return "the relationship \(property.name) has a value for rows without it"
        }
        guard entities.contains(end.destination) else { return "the destination of \(property.name) does not exist" }
        guard properties.contains(end.inverse) else { return "the inverse of \(property.name) does not exist" }
      }
      for constraint in entity.constraints {
        guard constraint.attributes.allSatisfy({ $0 > 0 && properties.contains($0) }) else {
          return "an attribute of the constraint \(constraint.number) does not exist"
        }
      }
    }
    for index in schema.indexes {
      guard index.entity > 0, entities.contains(index.entity) else {
        return "the entity of the index \(index.number) does not exist"
      }
      guard !index.properties.isEmpty, index.properties.allSatisfy({ $0 > 0 && properties.contains($0) }) else {
        return "a property of the index \(index.number) does not exist"
      }
      guard index.conditions.allSatisfy({ $0.property > 0 && properties.contains($0.property) }) else {
        return "a property in a condition of the index \(index.number) does not exist"
      }
    }
    return nil
  }

  private static func circle(in schema: Schema) -> String? {
    let superentities = Dictionary(schema.entities.map { ($0.number, $0.superentity) }) { first, _ in first }
    var ending: Set<UInt32> = [0]
    for entity in schema.entities {
      var path: Set<UInt32> = []
      var next = entity.number
      while !ending.contains(next) {
        guard path.insert(next).inserted else { return "\(entity.name) inherits from itself" }
        next = superentities[next] ?? 0
      }
      ending.formUnion(path)
    }
    return nil
  }
}
