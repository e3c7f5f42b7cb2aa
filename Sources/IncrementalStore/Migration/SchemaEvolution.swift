import CoreData

/// The schema of a store for another model than the one that the store was last opened with, inferred from both.
///
/// Entities and properties keep their numbers where they stay, renamed or not, so that no row changes. What stays is
/// found by renaming identifiers first, then by names.
struct SchemaEvolution {
  /// The schema after the migration.
  var schema: Schema
  /// Where the entries of to-many relationships come from that the store does not have yet.
  var sources: [RelationshipSource] = []
  /// The fields that rows must have after the migration, and do not have under the same number.
  var rewrites: [RowRewrite] = []
  /// The entities of which no objects may exist, with the reasons.
  var mustBeEmpty: [(entity: Schema.Entity, reason: String)] = []

  let former: Schema
  let model: NSManagedObjectModel
  let coder: ValueCoder
  /// The former entity of each entity that stays, by its new name.
  private(set) var formerEntities: [String: Schema.Entity] = [:]
  /// The former property of each property that stays, by its number in the new schema.
  var formerProperties: [UInt32: Schema.Property] = [:]
  /// The properties whose nulls have another value from now on.
  var renewed: Set<UInt32> = []

  /// - Parameter first: The first number for what is new; nil for the first that nothing in the store has had.
  /// - Throws: 134190 if the migration cannot be inferred.
  init(
    from former: Schema, to model: NSManagedObjectModel, _ coder: ValueCoder, numbersFrom first: UInt32? = nil
  ) throws {
    self.former = former
    self.model = model
    self.coder = coder
    schema = former
    schema.nextNumber = first ?? former.nextNumber
    let entities = model.describedEntities
    formerEntities = Matching(entities.map(RenamedName.init), former.entities.map { ($0, RenamedName($0)) }).found
    try takeEntities(entities)
    schema.describe(entities)
    for entity in entities { try compare(entity) }
    renewKeys()
    schema.takeConstraints(of: entities)
    schema.takeIndexes(of: entities, former)
    try checkInheritance(entities)
    removeRest()
    schema.migrations &+= 1
  }

  // MARK: Entities and properties

  private mutating func takeEntities(_ entities: [NSEntityDescription]) throws {
    schema.entities = entities.map { entity in
      let name = entity.name ?? ""
      var taken =
        formerEntities[name]
        ?? Schema.Entity(number: schema.takeNumber(), name: name, superentity: 0, isAbstract: false)
      taken.formerNames = (taken.formerNames + [taken.name]).filter { $0 != name }
      (taken.name, taken.renamingIdentifier, taken.properties) = (name, entity.renamingIdentifier ?? name, [])
      return taken
    }
    var free = Dictionary(
      uniqueKeysWithValues: former.entities.map { entity in (entity.number, entity.properties) })
    // Properties that stay in their entities come first, so that others that move do not take them.
    for (place, entity) in entities.enumerated() {
      let own = free[schema.entities[place].number] ?? []
      let found = Matching(entity.declaredProperties.map(RenamedName.init), own.map { ($0, RenamedName($0)) }).found
      for property in entity.declaredProperties {
        guard let found = found[property.name] else { continue }
        free[schema.entities[place].number]?.removeAll { $0.number == found.number }
        take(property, found, found.number, at: place)
      }
    }
    for (place, entity) in entities.enumerated() {
      for property in entity.declaredProperties
      where !schema.entities[place].properties.contains(where: { $0.name == property.name }) {
        try takeMoved(property, of: entity, at: place, &free)
      }
      schema.entities[place].properties.sort { $0.name < $1.name }
    }
  }

  private mutating func take(
    _ property: NSPropertyDescription, _ found: Schema.Property?, _ number: UInt32, at place: Int
  ) {
    var taken = found ?? Schema.Property(number: number, name: property.name, kind: .attribute(0))
    if number != found?.number { (taken.number, taken.valueIfAbsent, taken.valueIfNull) = (number, nil, nil) }
    (taken.name, taken.renamingIdentifier) = (property.name, property.renamingIdentifier ?? property.name)
    taken.isOptional = property.isOptional
    schema.entities[place].properties.append(taken)
    if let found { formerProperties[number] = found }
  }

  /// Takes a property that its entity did not have: one that has moved from an entity above or below, or a new one.
  private mutating func takeMoved(
    _ property: NSPropertyDescription, of entity: NSEntityDescription, at place: Int,
    _ free: inout [UInt32: [Schema.Property]]
  ) throws {
    let name = RenamedName(property)
    func match(in properties: [Schema.Property]?) -> Schema.Property? {
      Matching([name], (properties ?? []).map { ($0, RenamedName($0)) }).found[property.name]
    }
    let found = origins(of: entity).compactMap { origin -> (entity: UInt32, property: Schema.Property)? in
      match(in: free[origin]).map { (origin, $0) }
    }
    guard let first = found.first else { return take(property, nil, schema.takeNumber(), at: place) }
    // Others to which the property moves as well.
    let hasRivals = model.describedEntities.contains { other in
      other !== entity && other.declaredProperties.contains { $0.name == property.name }
        && origins(of: other).contains(first.entity)
        && match(in: formerEntities[other.name ?? ""]?.properties) == nil
    }
    let inheritors = Set(([entity] + entity.descendants).compactMap { formerEntities[$0.name ?? ""]?.number })
    // Rows of other entities that have the field would keep it.
    let movesWhole = inheritors.isSuperset(of: former.family(of: first.entity).map(\.number))
    guard found.count > 1 || hasRivals || !movesWhole else {
      free[first.entity]?.removeAll { $0.number == first.property.number }
      return take(property, first.property, first.property.number, at: place)
    }
    guard property is NSAttributeDescription else {
      throw failure("The relationship \(property.name) moves away from some entities that have it", entity)
    }
    let number = schema.takeNumber()
    take(property, first.property, number, at: place)
    for (source, moved) in found {
      guard moved.kind == first.property.kind else {
        throw failure("\(property.name) had several types in the entities from which it moves", entity)
      }
      let tables = former.family(of: source).map(\.number).filter(inheritors.contains)
      rewrites.append(RowRewrite(tables, .copy(from: moved.number, to: number)))
    }
  }

  /// The numbers of the former entities from which a property may move to an entity: those above it and below it, then
  /// or now.
  private func origins(of entity: NSEntityDescription) -> [UInt32] {
    let own = formerEntities[entity.name ?? ""]?.number
    let then = own.map { (former.lineage(of: $0) + former.family(of: $0)).map(\.number) } ?? []
    let now = (entity.ancestors + entity.descendants).compactMap { formerEntities[$0.name ?? ""]?.number }
    return Set(then + now).subtracting([own ?? 0]).sorted()
  }

  // MARK: Failures

  func missingDefault(_ attribute: NSAttributeDescription, _ entity: NSEntityDescription) -> NSError {
    failure("The attribute \(attribute.name) is required and has no default value", entity)
  }

  /// The error for a migration that cannot be inferred because of an entity of the new model.
  func failure(_ reason: String, _ entity: NSEntityDescription) -> NSError {
    Self.failure(reason, formerEntities[entity.name ?? ""]?.name, entity.name)
  }

  /// - Parameters:
  ///   - source: The name of the entity in the store; nil for none.
  ///   - destination: The name of the entity in the model; nil for none.
  static func failure(_ reason: String, _ source: String?, _ destination: String?) -> NSError {
    StoreFailure.make(
      NSInferredMappingModelError,
      "The migration cannot be inferred. \(reason). Entities: \(source ?? "none") in the store, "
        + "\(destination ?? "none") in the model.",
      ["reason": reason, "sourceEntity": source ?? "", "destinationEntity": destination ?? ""])
  }
}

extension NSEntityDescription {
  var ancestors: [NSEntityDescription] { Array(sequence(first: self, next: \.superentity).dropFirst()) }
  var descendants: [NSEntityDescription] { subentities + subentities.flatMap(\.descendants) }
}
