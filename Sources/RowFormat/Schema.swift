/// The entities and properties of a store, with the numbers that rows and entries use for them.
package struct Schema: Hashable, Sendable {
  package struct Entity: Hashable, Sendable {
    package var number: UInt32
    package var name: String
    /// 0 for none.
    package var superentity: UInt32
    package var isAbstract: Bool
    /// The properties that the entity itself declares, without inherited ones.
    package var properties: [Property] = []
    package var constraints: [Constraint] = []

    package init(number: UInt32, name: String, superentity: UInt32, isAbstract: Bool) {
      self.number = number
      self.name = name
      self.superentity = superentity
      self.isAbstract = isAbstract
    }
  }

  package struct Property: Hashable, Sendable {
    package var number: UInt32
    package var name: String
    package var kind: Kind

    package init(number: UInt32, name: String, kind: Kind) {
      self.number = number
      self.name = name
      self.kind = kind
    }
  }

  package enum Kind: Hashable, Sendable {
    /// With the raw value of its `NSAttributeType`.
    case attribute(UInt32)
    case toOne(Relationship)
    case toMany(Relationship, isOrdered: Bool)

    package var relationship: Relationship? {
      switch self {
      case .attribute: nil
      case .toOne(let relationship), .toMany(let relationship, _): relationship
      }
    }
  }

  package struct Relationship: Hashable, Sendable {
    package var destination: UInt32
    /// 0 for none.
    package var inverse: UInt32
    package var deleteRule: UInt8

    package init(destination: UInt32, inverse: UInt32, deleteRule: UInt8) {
      self.destination = destination
      self.inverse = inverse
      self.deleteRule = deleteRule
    }
  }

  package struct Constraint: Hashable, Sendable {
    package var number: UInt32
    package var attributes: [UInt32]

    package init(number: UInt32, attributes: [UInt32]) {
      self.number = number
      self.attributes = attributes
    }
  }

  /// An index that a model declares.
  package struct Index: Hashable, Sendable {
    package enum State: Hashable, Sendable {
      /// The objects before this one are in the index, and those that were saved since it was declared; nil if the
      /// first objects are still to come.
      case building(from: ObjectReference?)
      case ready
      /// No model declares the index any more. Its entries are being removed, and saves do not change them.
      case dropping
    }

    package var number: UInt32
    /// The entity that declares it. The objects of its subentities are in the index, too.
    package var entity: UInt32
    /// Attributes and to-one relationships, in the order by which the index is sorted.
    package var properties: [UInt32]
    /// What the objects in a partial index have in common; none for an index of all objects.
    package var conditions: [Condition]
    package var state = State.building(from: nil)

    package init(number: UInt32, entity: UInt32, properties: [UInt32], conditions: [Condition] = []) {
      self.number = number
      self.entity = entity
      self.properties = properties
      self.conditions = conditions
    }
  }

  /// The highest value of `nextNumber` in a store; all numbers in a store are lower. Half of the range, so that there
  /// are always numbers left to give out.
  package static let highestNextNumber: UInt32 = 1 << 31

  package var nextNumber: UInt32 = 1
  package var entities: [Entity] = []
  package var indexes: [Index] = []

  package init() {}

  /// Takes a number that nothing in the store has had before.
  package mutating func takeNumber() -> UInt32 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  /// The entity and those it inherits from, nearest first.
  package func lineage(of number: UInt32) -> [Entity] {
    var lineage: [Entity] = []
    var next = number
    while lineage.count <= entities.count, let entity = entities.first(where: { $0.number == next }) {
      lineage.append(entity)
      next = entity.superentity
    }
    return lineage
  }

  /// The entity and all that inherit from it.
  package func family(of number: UInt32) -> [Entity] {
    entities.filter { lineage(of: $0.number).contains { $0.number == number } }
  }

  /// The properties of an entity's objects, including inherited ones, sorted by name. If a property has moved to
  /// another entity of the lineage, the schema still has the old property of that name; the one with the highest number
  /// counts.
  package func properties(of number: UInt32) -> [Property] {
    let properties = lineage(of: number).flatMap(\.properties)
    return Dictionary(properties.map { ($0.name, $0) }) { $0.number > $1.number ? $0 : $1 }.values
      .sorted { $0.name < $1.name }
  }
}

// MARK: Bytes

extension Schema {
  private static let format: UInt8 = 1

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.varint(nextNumber)
    output.varint(entities.count)
    for entity in entities { output.entity(entity) }
    guard !indexes.isEmpty else { return output.bytes }
    output.varint(indexes.count)
    for index in indexes { output.index(index) }
    return output.bytes
  }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("a schema does not begin with \(Self.format)", at: 0) }
    nextNumber = try input.number()
    for _ in 0..<(try input.count()) { entities.append(try input.entity()) }
    if !input.isAtEnd {
      for _ in 0..<(try input.count()) { indexes.append(try input.index()) }
      guard !indexes.isEmpty else { throw input.damage("a schema has a list of no indexes") }
    }
    try input.requireEnd()
    if let problem = SchemaConsistency.problem(of: self) { throw input.damage(problem) }
  }
}

extension ByteOutput {
  fileprivate mutating func entity(_ entity: Schema.Entity) {
    varint(entity.number)
    text(entity.name)
    varint(entity.superentity)
    byte(entity.isAbstract ? 1 : 0)
    varint(entity.properties.count)
    for property in entity.properties {
      varint(property.number)
      text(property.name)
      switch property.kind {
      case .attribute(let type):
        byte(0)
        varint(type)
      case .toOne(let end): relationship(1, end)
      case .toMany(let end, isOrdered: false): relationship(2, end)
      case .toMany(let end, isOrdered: true): relationship(3, end)
      }
    }
    varint(entity.constraints.count)
    for constraint in entity.constraints {
      varint(constraint.number)
      varint(constraint.attributes.count)
      for attribute in constraint.attributes { varint(attribute) }
    }
  }

  fileprivate mutating func index(_ index: Schema.Index) {
    varint(index.number)
    varint(index.entity)
    varint(index.properties.count)
    for property in index.properties { varint(property) }
    varint(index.conditions.count)
    for condition in index.conditions {
      varint(condition.property)
      byte(condition.comparison.rawValue)
      counted(condition.constant)
    }
    switch index.state {
    case .ready: byte(0)
    case .building(from: nil): byte(1)
    case .building(from: let next?):
      byte(2)
      object(next)
    case .dropping: byte(3)
    }
  }

  private mutating func relationship(_ kind: UInt8, _ relationship: Schema.Relationship) {
    byte(kind)
    varint(relationship.destination)
    varint(relationship.inverse)
    byte(relationship.deleteRule)
  }
}

extension ByteInput {
  fileprivate mutating func entity() throws(RowDamage) -> Schema.Entity {
    var entity = Schema.Entity(
      number: try number(), name: try text(), superentity: try number(), isAbstract: try byte() != 0)
    for _ in 0..<(try count()) {
      entity.properties.append(Schema.Property(number: try number(), name: try text(), kind: try kind()))
    }
    for _ in 0..<(try count()) {
      var constraint = Schema.Constraint(number: try number(), attributes: [])
      for _ in 0..<(try count()) { constraint.attributes.append(try number()) }
      entity.constraints.append(constraint)
    }
    return entity
  }

  fileprivate mutating func index() throws(RowDamage) -> Schema.Index {
    var index = Schema.Index(number: try number(), entity: try number(), properties: [])
    for _ in 0..<(try count()) { index.properties.append(try number()) }
    for _ in 0..<(try count()) { index.conditions.append(try condition()) }
    switch try byte() {
    case 0: index.state = .ready
    case 1: index.state = .building(from: nil)
    case 2: index.state = .building(from: try object())
    case 3: index.state = .dropping
    case let state: throw damage("an index has the unknown state \(state)")
    }
    return index
  }

  private mutating func condition() throws(RowDamage) -> Schema.Index.Condition {
    let property = try number()
    guard let comparison = Schema.Index.Condition.Comparison(rawValue: try byte()) else {
      throw damage("a condition of an index has an unknown comparison")
    }
    return Schema.Index.Condition(property: property, comparison: comparison, constant: Array(bytes[try counted()]))
  }

  private mutating func kind() throws(RowDamage) -> Schema.Kind {
    switch try byte() {
    case 0: return .attribute(try number())
    case 1: return .toOne(try relationship())
    case 2: return .toMany(try relationship(), isOrdered: false)
    case 3: return .toMany(try relationship(), isOrdered: true)
    case let kind: throw damage("a property has the unknown kind \(kind)")
    }
  }

  private mutating func relationship() throws(RowDamage) -> Schema.Relationship {
    Schema.Relationship(destination: try number(), inverse: try number(), deleteRule: try byte())
  }
}
