package import CoreData

/// Maps the entities of a model to the schema of a store, and back.
package final class SchemaMap {
  private let byName: [String: EntityMap]
  private let byIdentity: [ObjectIdentifier: EntityMap]
  private let byNumber: [UInt32: EntityMap]
  /// The maps with their entities' identities and with their numbers, if there are few: it takes less time to compare a
  /// key with few others than to hash it.
  private let few: [EntityMap]
  private let fewIdentities: [ObjectIdentifier]
  private let fewNumbers: [UInt32]
  private let formerNames: [String: String]
  /// The concrete entities among each entity and those that inherit from it.
  private var families: [ObjectIdentifier: [EntityMap]] = [:]
  /// The to-many relationships without an inverse, each once, with the entities that their members may have.
  private(set) var setsWithoutInverse: [(end: ToManyEnd, members: Set<UInt32>)] = []

  init(_ schema: Schema, _ model: NSManagedObjectModel) throws {
    let numbers = SchemaNumbers(schema)
    var byName: [String: EntityMap] = [:]
    var byIdentity: [ObjectIdentifier: EntityMap] = [:]
    var byNumber: [UInt32: EntityMap] = [:]
    for entity in model.entities {
      guard let map = try EntityMap(entity, numbers) else { continue }
      byName[entity.name ?? ""] = map
      byIdentity[ObjectIdentifier(entity)] = map
      byNumber[map.number] = map
    }
    var formerNames: [String: String] = [:]
    for entity in schema.entities {
      for name in entity.formerNames { formerNames[name] = entity.name }
    }
    (self.byName, self.byIdentity, self.byNumber, self.formerNames) = (byName, byIdentity, byNumber, formerNames)
    few = byNumber.count <= 16 ? byNumber.values.sorted { $0.number < $1.number } : []
    fewIdentities = few.map { ObjectIdentifier($0.entity) }
    fewNumbers = few.map(\.number)
    for field in byNumber.values.flatMap(\.fields) {
      guard case .toOne(let relationship, _) = field.kind else { continue }
      field.destination = relationship.destinationEntity.flatMap { byIdentity[ObjectIdentifier($0)] }
    }
    for map in byNumber.values {
      let rules = map.fields.compactMap(\.rule)
      if rules.count == map.fields.count { map.rules = rules }
    }
    for entity in model.entities { families[ObjectIdentifier(entity)] = concreteFamily(of: entity) }
    var known: Set<ToManyEnd> = []
    for map in byNumber.values.sorted(by: { $0.number < $1.number }) {
      for set in map.sets {
        guard case .none = set.inverse, known.insert(set.end).inserted,
          let destination = map.entity.relationshipsByName[set.name]?.destinationEntity
        else { continue }
        setsWithoutInverse.append((set.end, Set(family(of: destination))))
      }
    }
  }

  /// The numbers of an entity and of those that inherit from it.
  private func family(of entity: NSEntityDescription) -> [UInt32] {
    (self[entity].map { [$0.number] } ?? []) + entity.subentities.flatMap(family)
  }

  /// All entities.
  package var all: some Collection<EntityMap> { byNumber.values }

  /// The name of the entity that had another name before a migration; nil if none had.
  func name(formerly name: String) -> String? { formerNames[name] }

  /// The entities whose objects a fetch may find: an entity and those that inherit from it, without abstract ones, each
  /// before those that inherit from it.
  package func concrete(_ entity: NSEntityDescription, includingSubentities: Bool) -> [EntityMap] {
    includingSubentities ? families[ObjectIdentifier(entity)] ?? concreteFamily(of: entity) : concreteOwn(entity)
  }

  private func concreteOwn(_ entity: NSEntityDescription) -> [EntityMap] {
    self[entity].map { $0.entity.isAbstract ? [] : [$0] } ?? []
  }

  private func concreteFamily(of entity: NSEntityDescription) -> [EntityMap] {
    entity.subentities.reduce(concreteOwn(entity)) { $0 + concreteFamily(of: $1) }
  }

  /// The map of an entity; nil if the schema does not have it.
  package subscript(entity: NSEntityDescription) -> EntityMap? {
    if let place = fewIdentities.firstIndex(of: ObjectIdentifier(entity)) { return few[place] }
    return byIdentity[ObjectIdentifier(entity)] ?? byName[entity.name ?? ""]
  }

  /// Whether the entity is that of a map, and not one of another model with the same name.
  func has(_ entity: NSEntityDescription) -> Bool {
    fewIdentities.contains(ObjectIdentifier(entity)) || byIdentity[ObjectIdentifier(entity)] != nil
  }

  /// The map of the entity with a number; nil if the model does not have it.
  package subscript(number: UInt32) -> EntityMap? {
    if let place = fewNumbers.firstIndex(of: number) { return few[place] }
    return byNumber[number]
  }
}

/// One entity: the fields of its rows, and the entries that belong to its objects.
package final class EntityMap {
  /// The inverse of a relationship.
  package enum Inverse {
    case none
    /// The number of a field in the rows at the other end.
    case toOne(UInt32)
    case toMany(ToManyEnd)
  }

  /// An attribute or a to-one relationship: a field of the row.
  package final class StoredField {
    package enum Kind {
      case attribute(NSAttributeDescription)
      case toOne(NSRelationshipDescription, inverse: Inverse)
    }

    package let number: UInt32
    /// The slot of the value in an object.
    package let slot: Int
    package let name: String
    package let kind: Kind
    /// The type of an attribute; undefined for a relationship.
    let type: NSAttributeType
    let isBoolean: Bool
    /// The entity at the other end of a to-one relationship, if the store has it.
    fileprivate(set) unowned var destination: EntityMap?

    init(number: UInt32, slot: Int, name: String, kind: Kind) {
      (self.number, self.slot, self.name, self.kind) = (number, slot, name, kind)
      type = if case .attribute(let attribute) = kind { attribute.attributeType } else { .undefinedAttributeType }
      isBoolean = type == .booleanAttributeType
    }

    /// What makes the field sound; nil if its bytes alone do not tell.
    fileprivate var rule: FieldRule? {
      switch type {
      case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: FieldRule(number, [.integer])
      case .booleanAttributeType: FieldRule(number, [.falsity, .truth])
      case .doubleAttributeType: FieldRule(number, [.double])
      case .floatAttributeType: FieldRule(number, [.float])
      case .stringAttributeType: FieldRule(number, [.string])
      case .dateAttributeType: FieldRule(number, [.date])
      case .binaryDataAttributeType: FieldRule(number, [.data])
      case .UUIDAttributeType: FieldRule(number, [.uuid])
      default: destination.map { FieldRule(number, [.object], entity: $0.number) }
      }
    }

    /// The entity at the other end of a to-one relationship, if it has a number.
    func destination(numbered number: UInt32) -> EntityMap? {
      destination.flatMap { $0.number == number ? $0 : nil }
    }
  }

  /// A to-many relationship: an entry for each member.
  package struct StoredSet {
    package let end: ToManyEnd
    package let slot: Int
    package let name: String
    package let inverse: Inverse
  }

  /// A uniqueness constraint.
  package struct Constraint {
    package let number: UInt32
    package let fields: [UInt32]
    package let names: [String]
  }

  package let entity: NSEntityDescription
  package let number: UInt32
  /// In the order of their numbers.
  package let fields: [StoredField]
  package let sets: [StoredSet]
  /// Those of the fields that are to-one relationships.
  let toOnes: [(field: StoredField, relationship: NSRelationshipDescription, inverse: Inverse)]
  /// Whether objects may be at an end of a relationship of the entity.
  let hasRelationships: Bool
  /// Whether rows refer to other objects.
  var hasToOneRelationships: Bool { !toOnes.isEmpty }
  /// What makes a row sound; nil if an attribute has values that a transformer, Foundation or another store decodes.
  fileprivate(set) var rules: [FieldRule]?
  /// Includes inherited constraints.
  package let constraints: [Constraint]
  /// How many slots an object has.
  let slotCount: Int
  /// The slots that no row fills, with their values before anything is read. They are null in all others.
  let unread: [(slot: Int, value: ManagedValue)]
  /// The numbers of the attributes whose values outlive an object in the history.
  let preservedFields: Set<UInt32>
  /// The places of `fields`, by name.
  private let places: [String: Int]
  private let setPlaces: [String: Int]

  init?(_ entity: NSEntityDescription, _ numbers: SchemaNumbers) throws {
    guard let number = numbers.entity(entity) else { return nil }
    self.entity = entity
    self.number = number
    let slots = EntitySlots(entity)
    var fields: [StoredField] = []
    var sets: [StoredSet] = []
    for (name, property) in entity.propertiesByName where !property.isTransient {
      guard let number = numbers.property(property), let slot = slots.place(of: name) else { continue }
      switch property {
      case let attribute as NSAttributeDescription:
        fields.append(StoredField(number: number, slot: slot, name: name, kind: .attribute(attribute)))
      case let relationship as NSRelationshipDescription where relationship.isToMany:
        let end = ToManyEnd(number: number, isOrdered: relationship.isOrdered)
        sets.append(StoredSet(end: end, slot: slot, name: name, inverse: numbers.inverse(of: relationship)))
      case let relationship as NSRelationshipDescription:
        let kind = StoredField.Kind.toOne(relationship, inverse: numbers.inverse(of: relationship))
        fields.append(StoredField(number: number, slot: slot, name: name, kind: kind))
      default: break
      }
    }
    let blank = slots.blank
    slotCount = blank.count
    unread = blank.enumerated().compactMap { if case .null = $1 { nil } else { ($0, $1) } }
    preservedFields = Set(
      fields.filter { field in
        if case .attribute(let attribute) = field.kind { attribute.preservesValueInHistoryOnDeletion } else { false }
      }.map(\.number))
    self.fields = fields.sorted { $0.number < $1.number }
    self.sets = sets.sorted { $0.end.number < $1.end.number }
    toOnes = self.fields.compactMap { field in
      if case .toOne(let relationship, let inverse) = field.kind { (field, relationship, inverse) } else { nil }
    }
    hasRelationships = !sets.isEmpty || !toOnes.isEmpty
    places = Dictionary(self.fields.enumerated().map { ($1.name, $0) }) { $1 }
    setPlaces = Dictionary(self.sets.enumerated().map { ($1.name, $0) }) { $1 }
    constraints = sequence(first: entity, next: \.superentity).flatMap { numbers.constraints(of: $0) }
  }

  /// The slot of the to-many relationship with a number; nil if the entity has none.
  func slot(ofSet number: UInt32) -> Int? {
    sets.indices.first { sets[$0].end.number == number }.map { sets[$0].slot }
  }

  /// The field whose value is in a slot; nil for a slot that no row fills.
  func field(ofSlot slot: Int) -> StoredField? { fields.first { $0.slot == slot } }

  package func field(named name: String) -> StoredField? { places[name].map { fields[$0] } }
  package func set(named name: String) -> StoredSet? { setPlaces[name].map { sets[$0] } }

  /// The property with a number in the schema; nil if the model does not have it.
  package func property(numbered number: UInt32) -> NSPropertyDescription? {
    (fields.first { $0.number == number }?.name ?? sets.first { $0.end.number == number }?.name).flatMap {
      entity.propertiesByName[$0]
    }
  }
}

/// The parts of a to-many relationship that its entries depend on.
package struct ToManyEnd: Hashable {
  package let number: UInt32
  package let isOrdered: Bool
}

/// The numbers in a schema for the entities and properties of a model.
struct SchemaNumbers {
  private var entities: [String: Schema.Entity] = [:]

  init(_ schema: Schema) {
    for entity in schema.entities { entities[entity.name] = entity }
  }

  func entity(_ entity: NSEntityDescription) -> UInt32? { entities[entity.name ?? ""]?.number }

  func property(_ property: NSPropertyDescription) -> UInt32? {
    entities[property.declaringEntity.name ?? ""]?.properties.first { $0.name == property.name }?.number
  }

  func inverse(of relationship: NSRelationshipDescription) -> EntityMap.Inverse {
    guard let inverse = relationship.inverseRelationship, let number = property(inverse) else { return .none }
    return inverse.isToMany ? .toMany(ToManyEnd(number: number, isOrdered: inverse.isOrdered)) : .toOne(number)
  }

  /// The constraints that the entity itself declares.
  func constraints(of entity: NSEntityDescription) -> [EntityMap.Constraint] {
    guard let stored = entities[entity.name ?? ""] else { return [] }
    return entity.constraintNames.compactMap { names in
      let fields = names.compactMap { entity.attributesByName[$0].flatMap(property) }
      guard fields.count == names.count,
        let constraint = stored.constraints.first(where: { $0.attributes == fields })
      else { return nil }
      return EntityMap.Constraint(number: constraint.number, fields: fields, names: names)
    }
  }
}

extension NSEntityDescription {
  /// The uniqueness constraints that the entity declares, as names of attributes: each constraint once, empty ones left
  /// out.
  var constraintNames: [[String]] {
    var known: Set<[String]> = [[]]
    return uniquenessConstraints.map { constraint in
      constraint.map { ($0 as? NSPropertyDescription)?.name ?? String(describing: $0) }
    }.filter { known.insert($0).inserted }
  }
}
