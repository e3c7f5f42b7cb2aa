/// The schema of a store as it is stored.
struct StoredSchema {
  struct Entity {
    let name: String
    let superentity: Int
    /// The names of the properties that the entity itself declares, by number.
    fileprivate(set) var properties: [Int: String] = [:]
    /// The numbers of each constraint's attributes, by the number of the constraint.
    fileprivate(set) var constraints: [Int: [Int]] = [:]
  }

  private(set) var entities: [Int: Entity] = [:]
  /// An index, all of which is built.
  struct Index {
    /// The entity that declares it.
    let entity: Int
    let properties: [Int]
    /// The values that objects in the index have, or do not have, as keys of an index.
    let conditions: [(property: Int, isEqual: Bool, constant: [UInt8])]
  }

  /// By the number of the index.
  private(set) var indexes: [Int: Index] = [:]

  init(_ bytes: [UInt8]) throws {
    var input = ByteReader(bytes)
    try require(try input.byte() == 2, "the schema has another format")
    _ = try input.varint()
    for _ in 0..<(try input.varint()) {
      let number = try input.varint()
      entities[number] = try Self.entity(&input)
    }
    try takeIndexes(&input)
    try require(try input.varint() == 0, "a migration has changed the schema")
    try require(try input.varint() == 0, "something is still to be removed")
    try require(input.isAtEnd, "the schema has more after it")
  }

  private mutating func takeIndexes(_ input: inout ByteReader) throws {
    for _ in 0..<(try input.varint()) {
      let (number, entity) = (try input.varint(), try input.varint())
      let properties = try (0..<(try input.varint())).map { _ in try input.varint() }
      let conditions = try (0..<(try input.varint())).map { _ in
        let (property, comparison) = (try input.varint(), try input.byte())
        try require(comparison < 2, "a condition of an index compares by neither == nor !=")
        return (property, comparison == 0, try input.counted())
      }
      indexes[number] = Index(entity: entity, properties: properties, conditions: conditions)
      try require(try input.byte() == 0, "an index is not ready")
    }
  }

  private static func entity(_ input: inout ByteReader) throws -> Entity {
    var entity = Entity(name: try input.text(), superentity: try input.varint())
    _ = try input.byte()
    _ = try input.text()
    try require(try input.varint() == 0, "a migration has renamed an entity")
    for _ in 0..<(try input.varint()) {
      let number = try input.varint()
      entity.properties[number] = try input.text()
      let isAttribute = try input.byte() == 0
      _ = try input.varint()
      if !isAttribute {
        _ = try input.varint()
        _ = try input.byte()
      }
      _ = try input.text()
      try require(try input.byte() < 2, "a property has values for rows without it")
    }
    for _ in 0..<(try input.varint()) {
      let number = try input.varint()
      entity.constraints[number] = try (0..<(try input.varint())).map { _ in try input.varint() }
    }
    return entity
  }

  /// The entity and its superentities.
  private func lineage(_ number: Int) -> [Entity] {
    guard let entity = entities[number] else { return [] }
    return [entity] + lineage(entity.superentity)
  }

  func property(_ number: Int, of entity: Int) -> String? {
    lineage(entity).compactMap { $0.properties[number] }.first
  }

  func constraints(of entity: Int) -> [(number: Int, attributes: [Int])] {
    lineage(entity).flatMap { entity in entity.constraints.map { ($0.key, $0.value) } }
  }

  /// Whether an entity is another one, or inherits from it.
  func inherits(_ entity: Int, from ancestor: Int) -> Bool {
    entity == ancestor
      || entities[entity].map { $0.superentity > 0 && inherits($0.superentity, from: ancestor) } ?? false
  }

  /// The names of all properties, by number.
  var properties: [Int: String] {
    entities.values.reduce(into: [:]) { $0.merge($1.properties) { name, _ in name } }
  }
}
