package import Cairn
package import RowFormat

/// The objects of a Core Data store in a snapshot, decoded with the schema in the store itself: STORE-FORMAT.md.
package struct ObjectStore {
  /// An object with the contents of its row.
  package struct Object {
    package let reference: ObjectReference
    /// How often the object was saved, and the last commit that did.
    package let version: UInt64
    package let sequence: CommitSequence
    /// Whether the object is not loaded in whole from a remote service; a property without a value is not known then.
    package let isPartial: Bool
    /// Attributes and to-one relationships by the number of the property.
    package let values: [UInt32: StoredValue]
  }

  package let names: ObjectNames
  private let snapshot: Snapshot
  private let structures: RowStructures

  /// - Throws: `notFound` if there are no Core Data objects; `corrupted` if their schema or metadata cannot be read.
  package init(_ snapshot: Snapshot, of store: Store) throws {
    guard let structures = try RowStructures(snapshot, store.keyspaces) else {
      throw StoreError(.notFound, "there are no Core Data objects in \(store.path)")
    }
    self.snapshot = snapshot
    self.structures = structures
    let metadata = try structures.row(.integer(1), in: RowStructures.head) ?? []
    let schema = try structures.row(.integer(2), in: RowStructures.head) ?? []
    let uuid = try Self.reading("the metadata") { () throws(RowDamage) in
      try BinaryPropertyList.text("NSStoreUUID", in: metadata) ?? ""
    }
    names = try Self.reading("the schema") { () throws(RowDamage) in ObjectNames(try Schema(schema), uuid: uuid) }
  }

  static func reading<R>(
    _ what: @autoclosure () -> String, _ body: () throws(RowDamage) -> R
  ) throws(StoreError) -> R {
    do throws(RowDamage) {
      return try body()
    } catch {
      throw StoreError(.corrupted, "\(what()): \(error)")
    }
  }

  // MARK: Rows

  func row(_ reference: RowReference, in table: UInt32) throws -> [UInt8]? {
    try structures.row(reference, in: table)
  }

  func forEachRow(of table: UInt32, reverse: Bool = false, _ body: (Key, [UInt8]) throws -> ScanStep) throws {
    guard let keyspace = structures.keyspaces[table] else { return }
    try keyspace.scan(reverse: reverse, at: snapshot) { key, value, _ in
      try body(try Key(encoded: key), unsafe value.withUnsafeBytes { unsafe Array($0) })
    }
  }

  // MARK: Objects

  /// The number of objects of an entity itself, without those of entities that inherit from it.
  package func count(of entity: UInt32) throws -> Int {
    guard let keyspace = structures.keyspaces[entity] else { return 0 }
    return try keyspace.count(at: snapshot)
  }

  /// Nil if there is no such object.
  package func object(_ reference: ObjectReference) throws -> Object? {
    guard let keyspace = structures.keyspaces[reference.entity],
      let row = try keyspace.row(Key(reference.reference), at: snapshot)
    else { return nil }
    return try object(reference, row.value, RowStamp(version: row.version, sequence: row.sequence))
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
        "the row \(key.literal) of \(names.entityName(entity)): an object's reference must be a number, a string or a UUID"
      )
    }
    var bytes: [UInt8] = []
    try unsafe snapshot.withValue(of: record) { bytes = unsafe Array($0) }
    return try object(
      ObjectReference(entity: entity, reference: reference), bytes,
      RowStamp(version: record.header.version, sequence: record.header.sequence))
  }

  private func object(
    _ reference: ObjectReference, _ bytes: [UInt8], _ row: RowStamp
  ) throws(StoreError) -> Object {
    let stamp = try structures.stamp(row, of: Key(reference.reference), in: reference.entity)
    let values = try Self.reading("the row of \(names.name(of: reference))") { () throws(RowDamage) in
      var values: [UInt32: StoredValue] = [:]
      let bytes = try names.completions[reference.entity]?.completed(bytes) ?? bytes
      var fields = try RowFormat.FieldReader(bytes)
      while let (number, field) = try fields.next() { values[number] = try StoredValue(field, in: bytes) }
      return values
    }
    return Object(
      reference: reference, version: stamp.version, sequence: stamp.sequence,
      isPartial: RowFormat.FieldReader.isPartial(bytes), values: values)
  }

  /// The members of a to-many relationship of an object, in their order.
  package func members(of object: ObjectReference, _ relationship: UInt32, isOrdered: Bool) throws -> [ObjectReference]
  {
    let prefix = Entry.members(of: object.reference, relationship)
    var members: [ObjectReference] = []
    try structures.forEachPack(from: prefix) { bound, bytes in
      try Self.reading("\(names.name(of: object)): the pack \(Key.bytes(bound).literal)") {
        () throws(RowDamage) in
        var entries = try PackReader(bytes)
        while try entries.next() {
          if entries.entry.starts(with: prefix) {
            members.append(try Entry.member(in: entries.entry, after: prefix.count, isOrdered: isOrdered).member)
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
