package import Cairn
package import RowFormat

/// The objects of a Core Data store in a snapshot, decoded with the schema in the store itself: STORE-FORMAT.md.
package struct ObjectStore {
  /// An object with the contents of its row.
  package struct Object {
    package let reference: ObjectReference
    package let version: UInt64
    package let sequence: CommitSequence
    /// Attributes and to-one relationships by the number of the property.
    package let values: [UInt32: StoredValue]
  }

  private static let head: UInt32 = 0

  package let schema: Schema
  /// The store's UUID, with which the URIs of its objects begin.
  package let uuid: String
  private let snapshot: Snapshot
  private let structures: RowStructures
  private let names: [UInt32: String]
  private let properties: [UInt32: [Schema.Property]]

  /// - Throws: `notFound` if there are no Core Data objects; `corrupted` if their schema or metadata cannot be read.
  package init(_ snapshot: Snapshot, of store: Store) throws {
    guard let structures = try RowStructures(snapshot, store.keyspaces) else {
      throw StoreError(.notFound, "there are no Core Data objects in \(store.path)")
    }
    self.snapshot = snapshot
    self.structures = structures
    let metadata = try structures.row(.integer(1), in: Self.head) ?? []
    let schema = try structures.row(.integer(2), in: Self.head) ?? []
    uuid = try Self.reading("the metadata") { () throws(RowDamage) in
      try BinaryPropertyList.text("NSStoreUUID", in: metadata) ?? ""
    }
    let read = try Self.reading("the schema") { () throws(RowDamage) in try Schema(schema) }
    self.schema = read
    names = Dictionary(read.entities.map { ($0.number, $0.name) }) { first, _ in first }
    properties = Dictionary(read.entities.map { ($0.number, read.properties(of: $0.number)) }) { first, _ in first }
  }

  private static func reading<R>(
    _ what: @autoclosure () -> String, _ body: () throws(RowDamage) -> R
  ) throws(StoreError) -> R {
    do throws(RowDamage) {
      return try body()
    } catch {
      throw StoreError(.corrupted, "\(what()): \(error)")
    }
  }

  // MARK: Names

  /// - Throws: `notFound`, with the names that exist.
  package func entity(named name: String) throws(StoreError) -> Schema.Entity {
    if let entity = schema.entities.first(where: { $0.name == name }) { return entity }
    throw StoreError(
      .notFound,
      "there is no entity \(Key.string(name).literal); the entities are "
        + schema.entities.map { Key.string($0.name).literal }.sorted().joined(separator: ", "))
  }

  /// As `Person/p12`.
  package func name(of object: ObjectReference) -> String { "\(entityName(object.entity))/p\(object.reference)" }

  /// As `x-coredata://UUID/Person/p12`.
  package func uri(of object: ObjectReference) -> String {
    "\(Self.scheme)\(uuid)/\(Self.percentEncoded(entityName(object.entity)))/p\(object.reference)"
  }

  package func entityName(_ number: UInt32) -> String { names[number] ?? "\(number)" }

  /// The properties of an entity's objects, sorted by name; see `Schema.properties(of:)`.
  package func properties(of entity: UInt32) -> [Schema.Property] { properties[entity] ?? [] }

  /// The object that a URI or a name as above identifies, whether it exists or not.
  package func reference(_ text: String) throws(StoreError) -> ObjectReference {
    guard let parts = Self.parts(of: text), let number = Int64(parts.reference) else {
      throw StoreError(
        .invalidArgument, "\(text) does not name an object; use x-coredata://UUID/Person/p12 or Person/p12")
    }
    if let store = parts.store, store != uuid {
      throw StoreError(.notFound, "\(text) is an object of another store; the UUID of this store is \(uuid)")
    }
    let entity = schema.entities.first { Self.percentEncoded($0.name) == parts.entity }?.name ?? parts.entity
    return ObjectReference(entity: try self.entity(named: entity).number, reference: .integer(number))
  }

  private static let scheme = "x-coredata://"

  private static func parts(of text: String) -> (store: String?, entity: String, reference: String)? {
    var parts = text.hasPrefix(scheme) ? text.dropFirst(scheme.count).split(separator: "/") : text.split(separator: "/")
    let store = text.hasPrefix(scheme) && !parts.isEmpty ? String(parts.removeFirst()) : nil
    guard parts.count == 2, parts[1].hasPrefix("p"), parts[1].count > 1, store != nil || !text.hasPrefix(scheme) else {
      return nil
    }
    return (store, String(parts[0]), String(parts[1].dropFirst()))
  }

  private static func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for unit in text.utf8 {
      switch unit {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(unit))
      default: encoded += "%" + (unit < 16 ? "0" : "") + String(unit, radix: 16, uppercase: true)
      }
    }
    return encoded
  }

  // MARK: Objects

  /// The number of objects of an entity itself, without those of entities that inherit from it.
  package func count(of entity: UInt32) throws -> Int {
    guard let keyspace = structures.keyspaces[entity] else { return 0 }
    return try snapshot.count(in: keyspace)
  }

  /// Nil if there is no such object.
  package func object(_ reference: ObjectReference) throws -> Object? {
    guard let keyspace = structures.keyspaces[reference.entity],
      let row = try snapshot.row(Key(reference.reference), in: keyspace)
    else { return nil }
    return try object(reference, row.value, version: row.version, sequence: row.sequence)
  }

  /// Calls `body` with the objects of an entity itself, in the order of their references, and with an error for each
  /// row that is not an object.
  package func forEachObject(of entity: UInt32, _ body: (Result<Object, any Error>) throws -> ScanStep) throws {
    guard let keyspace = structures.keyspaces[entity] else { return }
    try snapshot.forEachRecord(in: keyspace) { record in try body(Result { try object(record, of: entity) }) }
  }

  private func object(_ record: RecordView, of entity: UInt32) throws -> Object {
    let key = try unsafe Key(encoded: record.key.bytes)
    guard let reference = RowReference(key) else {
      throw StoreError(
        .corrupted,
        "the row \(key.literal) of \(entityName(entity)): an object's reference must be a number, a string or a UUID")
    }
    var bytes: [UInt8] = []
    try unsafe snapshot.withValue(of: record) { bytes = unsafe Array($0) }
    return try object(
      ObjectReference(entity: entity, reference: reference), bytes, version: record.header.version,
      sequence: record.header.sequence)
  }

  private func object(
    _ reference: ObjectReference, _ bytes: [UInt8], version: UInt64, sequence: CommitSequence
  ) throws(StoreError) -> Object {
    let values = try Self.reading("the row of \(name(of: reference))") { () throws(RowDamage) in
      var values: [UInt32: StoredValue] = [:]
      var fields = try RowFormat.FieldReader(bytes)
      while let (number, field) = try fields.next() { values[number] = try StoredValue(field, in: bytes) }
      return values
    }
    return Object(reference: reference, version: version, sequence: sequence, values: values)
  }

  /// The members of a to-many relationship of an object, in their order.
  package func members(of object: ObjectReference, _ relationship: UInt32, isOrdered: Bool) throws -> [ObjectReference]
  {
    let prefix = Entry.members(of: object.reference, relationship)
    var members: [ObjectReference] = []
    try structures.forEachPack(from: prefix) { bound, bytes in
      try Self.reading("\(name(of: object)): the pack \(Key.bytes(bound).literal)") { () throws(RowDamage) in
        var entries = try PackReader(bytes)
        while try entries.next() {
          if entries.entry.starts(with: prefix) {
            members.append(try Entry.member(in: entries.entry, behind: prefix.count, isOrdered: isOrdered).member)
          } else if prefix.lexicographicallyPrecedes(entries.entry) {
            return false
          }
        }
        return true
      }
    }
    return members
  }
}
