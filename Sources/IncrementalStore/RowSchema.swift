public import CoreData
import RowFormat

/// What the rows and entries of a store mean: the entities and properties of its model, with the permanent numbers that
/// rows and entries use for them.
///
/// A row store that makes columns which others can read, or indexes of its own, needs the schema. It reads it from a
/// snapshot, with ``RowSnapshot/schema()``, when it opens the database, and from the changes of a save that makes or
/// changes it, with ``RowChanges/newSchema()``. No row of an entity is saved before the schema that has the entity.
public struct RowSchema: Hashable, Sendable {
  /// An entity. The rows of its objects are in the table with its number.
  public struct Entity: Hashable, Sendable {
    /// The number, which the entity keeps if it is renamed.
    public let number: UInt32
    /// The name in the model.
    public let name: String
    /// The number of the entity that it inherits from; nil for none.
    public let superentity: UInt32?
    /// Whether it has no objects of its own.
    public let isAbstract: Bool
    /// The properties of its objects, inherited ones included, in the order of their numbers.
    public let properties: [Property]
    /// The uniqueness constraints of its objects, inherited ones included.
    public let constraints: [Constraint]
  }

  /// An attribute or a relationship.
  public struct Property: Hashable, Sendable {
    /// What a property is.
    public enum Kind: Hashable, Sendable {
      /// An attribute of a type: a field of the row.
      case attribute(NSAttributeType)
      /// A to-one relationship: a field of the row, whose value is an object of the entity with the number `destination`
      /// or of one that inherits from it.
      case toOne(destination: UInt32)
      /// A to-many relationship: an entry for each member.
      case toMany(destination: UInt32, isOrdered: Bool)
    }

    /// The number, which the property keeps if it is renamed.
    public let number: UInt32
    /// The name in the model.
    public let name: String
    /// What it is.
    public let kind: Kind
    /// The number of the inverse of a relationship; nil if there is none.
    public let inverse: UInt32?
  }

  /// A uniqueness constraint.
  public struct Constraint: Hashable, Sendable {
    /// The number.
    public let number: UInt32
    /// The numbers of its attributes, in its order.
    public let attributes: [UInt32]
  }

  /// An index that the model declares.
  public struct Index: Hashable, Sendable {
    /// The number.
    public let number: UInt32
    /// The entity that declares it. The objects of entities that inherit from it are in the index, too.
    public let entity: UInt32
    /// The numbers of attributes and to-one relationships, in the order by which the index is sorted.
    public let properties: [UInt32]
  }

  /// What an entry says.
  public enum Entry: Hashable, Sendable {
    /// An object is a member of the relationship with a number. The position, of an ordered relationship only, ascends
    /// with the members.
    case member(relationship: UInt32, owner: RowReference, member: ObjectReference, position: Int64?)
    /// An object has a key of the constraint with a number. No two entries have the same constraint and key.
    case key(constraint: UInt32, key: [UInt8], holder: ObjectReference)
    /// An object is in the index with a number.
    case indexed(index: UInt32, key: [UInt8], object: ObjectReference)
  }

  /// In the order of their numbers.
  public let entities: [Entity]
  /// Those that the model declares.
  public let indexes: [Index]
  private let schema: Schema
  private let numbered: SchemaIndex
  private let completions: [UInt32: RowCompletion]

  init(_ schema: Schema) {
    self.schema = schema
    completions = schema.completions
    numbered = SchemaIndex(schema)
    let properties = numbered.properties
    entities = schema.entities.sorted { $0.number < $1.number }.map { entity in
      Entity(
        number: entity.number, name: entity.name, superentity: entity.superentity == 0 ? nil : entity.superentity,
        isAbstract: entity.isAbstract,
        properties: schema.properties(of: entity.number).sorted { $0.number < $1.number }.map {
          Property($0, inverse: properties[$0.number]?.inverse)
        },
        constraints: schema.lineage(of: entity.number).flatMap(\.constraints).map {
          Constraint(number: $0.number, attributes: $0.attributes)
        })
    }
    indexes = schema.indexes.filter { $0.state != .dropping }.map {
      Index(number: $0.number, entity: $0.entity, properties: $0.properties)
    }
  }

  /// Whether all entities, properties, constraints, indexes and numbers are the same.
  public static func == (left: RowSchema, right: RowSchema) -> Bool { left.schema == right.schema }

  /// Hashes the schema.
  public func hash(into hasher: inout Hasher) { hasher.combine(schema) }

  /// The values of the attributes and to-one relationships in a row of the entity with a number, by the numbers of the
  /// properties. A property without a value is null, or is missing.
  ///
  /// - Throws: Error 259 if the bytes are not a row.
  public func values(of row: StoredRow, in entity: UInt32) throws -> [UInt32: StoredValue] {
    try StoreFailure.reading("A row of the table \(entity)") {
      let bytes = try completions[entity]?.completed(row.bytes) ?? row.bytes
      var values: [UInt32: StoredValue] = [:]
      var fields = try FieldReader(bytes)
      while let (number, field) = try fields.next() { values[number] = try StoredValue(field, in: bytes) }
      return values
    }
  }

  /// What an entry says; nil if it is none of a relationship, a constraint or an index of the schema.
  public func content(of entry: [UInt8]) -> Entry? {
    guard let content = try? EntryContent(entry, numbered) else { return nil }
    return switch content {
    case .member(let relationship, let owner, let member, let position):
      .member(relationship: relationship.property.number, owner: owner, member: member, position: position)
    case .key(let constraint, let key, let holder):
      .key(constraint: constraint.constraint.number, key: key, holder: holder)
    case .indexed(let index, let key, let object): .indexed(index: index.number, key: key, object: object)
    case .identified: nil
    }
  }
}

extension RowSchema.Property {
  fileprivate init(_ property: Schema.Property, inverse: UInt32?) {
    let kind: Kind =
      switch property.kind {
      case .attribute(let type): .attribute(NSAttributeType(rawValue: UInt(type)) ?? .undefinedAttributeType)
      case .toOne(let relationship): .toOne(destination: relationship.destination)
      case .toMany(let relationship, let isOrdered):
        .toMany(destination: relationship.destination, isOrdered: isOrdered)
      }
    self.init(number: property.number, name: property.name, kind: kind, inverse: inverse)
  }
}

extension RowSnapshot {
  /// The schema of the store; nil if it has none yet.
  ///
  /// - Throws: Error 259 if the schema is damaged.
  public func schema() throws -> RowSchema? {
    guard let row = try row(StoreHead.schemaReference, in: StoreHead.table) else { return nil }
    return RowSchema(try StoreFailure.reading("The schema of the store") { try Schema(row.bytes) })
  }
}

extension RowChanges {
  /// The schema that the changes put into the store; nil if they leave it as it is.
  ///
  /// - Throws: Error 259 if the schema is damaged.
  public func newSchema() throws -> RowSchema? {
    let row = rows.first { $0.table == StoreHead.table && $0.reference == StoreHead.schemaReference }
    guard let row, case .put(let bytes) = row.change else { return nil }
    return RowSchema(try StoreFailure.reading("The schema of the store") { try Schema(bytes) })
  }
}
