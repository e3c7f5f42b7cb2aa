/// The entities and properties of a store, with the numbers that rows and entries use for them.
package struct Schema: Hashable, Sendable {
  package struct Entity: Hashable, Sendable {
    package var number: UInt32
    package var name: String
    /// 0 for none.
    package var superentity: UInt32
    package var isAbstract: Bool
    /// The name under which a later model may find the entity.
    package var renamingIdentifier: String
    /// The names that the entity had before migrations renamed it. URIs of its objects may have them.
    package var formerNames: [String] = []
    /// The properties that the entity itself declares, without inherited ones.
    package var properties: [Property] = []
    package var constraints: [Constraint] = []

    package init(number: UInt32, name: String, superentity: UInt32, isAbstract: Bool) {
      self.number = number
      self.name = name
      self.superentity = superentity
      self.isAbstract = isAbstract
      renamingIdentifier = name
    }
  }

  package struct Property: Hashable, Sendable {
    package var number: UInt32
    package var name: String
    package var kind: Kind
    package var isOptional = false
    /// The name under which a later model may find the property.
    package var renamingIdentifier: String
    /// The value of rows that have no field of the property, because they were written before the property existed; nil
    /// for null.
    package var valueIfAbsent: StoredField?
    /// The value of rows that have null, because the property was optional when they were written; nil for null.
    package var valueIfNull: StoredField?

    package init(number: UInt32, name: String, kind: Kind) {
      self.number = number
      self.name = name
      self.kind = kind
      renamingIdentifier = name
    }
  }

  /// The value of a field, in the bytes that a row has.
  package struct StoredField: Hashable, Sendable {
    package let type: FieldType
    /// Without the length before them.
    package let content: [UInt8]

    package init(_ field: Field, of row: [UInt8]) {
      type = field.type
      content = Array(row[field.range])
    }

    /// Where the value lies in `content`.
    package var field: Field { Field(type: type, range: content.indices) }

    fileprivate init(_ type: FieldType, _ content: [UInt8]) {
      self.type = type
      self.content = content
    }
  }

  /// What a migration has left behind, and what is being removed from the store.
  package enum Removal: Hashable, Sendable {
    /// The rows of an entity that the model no longer has.
    case table(UInt32)
    /// The entries of a relationship, a constraint or an index that the model no longer has.
    case entries(UInt32)

    package var number: UInt32 {
      switch self {
      case .table(let number), .entries(let number): number
      }
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
  /// How many migrations have changed the schema.
  package var migrations: UInt32 = 0
  package var removals: [Removal] = []
  /// False for a schema in format 1 until a model has described it again.
  package var knowsOptionality = true

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
  /// The format that is written. Format 1, which is read as well, has nothing that only migrations need.
  private static let format: UInt8 = 2

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.varint(nextNumber)
    output.varint(entities.count)
    for entity in entities { output.entity(entity) }
    output.varint(indexes.count)
    for index in indexes { output.index(index) }
    output.varint(migrations)
    output.varint(removals.count)
    for removal in removals { output.removal(removal) }
    return output.bytes
  }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    let format = try input.byte()
    guard (1...Self.format).contains(format) else {
      throw RowDamage("a schema begins with neither 1 nor \(Self.format)", at: 0)
    }
    knowsOptionality = format > 1
    nextNumber = try input.number()
    for _ in 0..<(try input.count()) { entities.append(try input.entity(format)) }
    if format > 1 || !input.isAtEnd {
      for _ in 0..<(try input.count()) { indexes.append(try input.index()) }
      guard format > 1 || !indexes.isEmpty else { throw input.damage("a schema has a list of no indexes") }
    }
    if format > 1 {
      migrations = try input.number()
      for _ in 0..<(try input.count()) { removals.append(try input.removal()) }
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
    text(entity.renamingIdentifier)
    varint(entity.formerNames.count)
    for name in entity.formerNames { text(name) }
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
      evolution(of: property)
    }
    varint(entity.constraints.count)
    for constraint in entity.constraints {
      varint(constraint.number)
      varint(constraint.attributes.count)
      for attribute in constraint.attributes { varint(attribute) }
    }
  }

  /// What migrations need to know about a property.
  private mutating func evolution(of property: Schema.Property) {
    text(property.renamingIdentifier)
    let values = [property.valueIfAbsent, property.valueIfNull]
    byte((property.isOptional ? 1 : 0) | (values[0] == nil ? 0 : 2) | (values[1] == nil ? 0 : 4))
    for value in values.compactMap(\.self) {
      byte(value.type.rawValue)
      counted(value.content)
    }
  }

  fileprivate mutating func removal(_ removal: Schema.Removal) {
    switch removal {
    case .table(let number):
      byte(0)
      varint(number)
    case .entries(let number):
      byte(1)
      varint(number)
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
  fileprivate mutating func entity(_ format: UInt8) throws(RowDamage) -> Schema.Entity {
    var entity = Schema.Entity(
      number: try number(), name: try text(), superentity: try number(), isAbstract: try byte() != 0)
    if format > 1 {
      entity.renamingIdentifier = try text()
      for _ in 0..<(try count()) { entity.formerNames.append(try text()) }
    }
    for _ in 0..<(try count()) {
      var property = Schema.Property(number: try number(), name: try text(), kind: try kind())
      if format > 1 { try evolution(of: &property) }
      entity.properties.append(property)
    }
    for _ in 0..<(try count()) {
      var constraint = Schema.Constraint(number: try number(), attributes: [])
      for _ in 0..<(try count()) { constraint.attributes.append(try number()) }
      entity.constraints.append(constraint)
    }
    return entity
  }

  private mutating func evolution(of property: inout Schema.Property) throws(RowDamage) {
    property.renamingIdentifier = try text()
    let flags = try byte()
    guard flags < 8 else { throw damage("a property has unknown flags") }
    property.isOptional = flags & 1 != 0
    if flags & 2 != 0 { property.valueIfAbsent = try storedField() }
    if flags & 4 != 0 { property.valueIfNull = try storedField() }
  }

  /// A value that a row can have.
  private mutating func storedField() throws(RowDamage) -> Schema.StoredField {
    let type = try self.type()
    let content = Array(bytes[try counted()])
    var output = ByteOutput()
    output.value(Field(type: type, range: content.indices), of: content)
    var input = ByteInput(output.bytes)
    _ = try input.field(type)
    try input.requireEnd()
    return Schema.StoredField(type, content)
  }

  fileprivate mutating func removal() throws(RowDamage) -> Schema.Removal {
    switch try byte() {
    case 0: return .table(try number())
    case 1: return .entries(try number())
    case let kind: throw damage("a removal has the unknown kind \(kind)")
    }
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
