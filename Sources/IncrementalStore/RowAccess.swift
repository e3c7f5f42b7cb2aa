package import CoreData

/// Converts rows of a store to values of its objects. Has the schema, and converts references to identifiers and back.
package final class RowAccess {
  package let schema: SchemaMap
  /// Whether some rows may be of objects that are not loaded in whole.
  package var hasPartialRows = false
  let coder: ValueCoder
  let kind: RowReferenceKind
  unowned let store: NSIncrementalStore

  init(_ schema: SchemaMap, _ kind: RowReferenceKind, _ store: NSIncrementalStore) {
    self.schema = schema
    self.kind = kind
    self.store = store
    coder = ValueCoder(coordinator: store.persistentStoreCoordinator)
  }

  package func entity(named name: String) -> NSEntityDescription? {
    store.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
  }

  // MARK: Identifiers

  /// The identifier of an object; nil if the model does not have its entity.
  package func objectID(_ object: ObjectReference) -> NSManagedObjectID? {
    schema[object.entity].map { objectID(object.reference, $0) }
  }

  /// The name of an object in messages: its URI, if the model has its entity.
  package func name(_ object: ObjectReference) -> String {
    objectID(object)?.uriRepresentation().absoluteString ?? "\(object)"
  }

  package func objectID(_ reference: RowReference, _ map: EntityMap) -> NSManagedObjectID {
    switch reference {
    case .integer(let number): store.objectID(number, of: map.entity)
    case .string(let text): store.newObjectID(for: map.entity, referenceObject: text)
    case .uuid: store.newObjectID(for: map.entity, referenceObject: reference.description)
    }
  }

  /// The reference of an object in the store.
  ///
  /// - Throws: 133000 for an identifier that cannot be one of the store's.
  package func reference(_ id: NSManagedObjectID) throws -> ObjectReference { try located(id).reference }

  /// As ``reference(_:)``, with the entity of the object.
  func located(_ id: NSManagedObjectID) throws -> (reference: ObjectReference, map: EntityMap) {
    guard let map = schema[id.entity], let reference = rowReference(id) else { throw StoreFailure.missing(id) }
    return (ObjectReference(entity: map.number, reference: reference), map)
  }

  /// The reference of the object that a constant is or identifies; nil for anything but an object of the store.
  func reference(ofConstant constant: Any?) -> ObjectReference? {
    NSManagedObjectID.identifying(constant).flatMap(reference(ofOwn:))
  }

  /// The reference of an object of the store; nil for any other object.
  func reference(ofOwn id: NSManagedObjectID) -> ObjectReference? {
    id.persistentStore === store ? try? reference(id) : nil
  }

  private func rowReference(_ id: NSManagedObjectID) -> RowReference? {
    switch kind {
    case .integer: number(of: id).map { .integer($0) }
    case .string: text(of: id).map { .string($0) }
    case .uuid: text(of: id).flatMap { UUID(uuidString: $0) }.map { .uuid($0.number) }
    }
  }

  // MARK: Values

  /// The value of an attribute, or the identifier of the object that a to-one relationship refers to.
  package func value(of stored: EntityMap.StoredField, in bytes: [UInt8]) throws -> ManagedValue {
    guard let field = try FieldReader.field(stored.number, of: bytes) else { return .null }
    return try value(field, stored, bytes)
  }

  /// The values of a row, one for each slot of the object.
  package func values(of bytes: [UInt8], _ map: EntityMap) throws -> [ManagedValue] {
    try values(of: bytes, map, objectID)
  }

  func values(
    of bytes: [UInt8], _ map: EntityMap, _ identifier: (RowReference, EntityMap) -> NSManagedObjectID
  ) throws -> [ManagedValue] {
    var values = [ManagedValue](repeating: .null, count: map.slotCount)
    for (slot, value) in map.unread { values[slot] = value }
    var fields = try FieldReader(bytes)
    var place = 0
    while let next = try fields.next() {
      while place < map.fields.count, map.fields[place].number < next.number { place += 1 }
      guard place < map.fields.count, case let stored = map.fields[place], stored.number == next.number else {
        continue
      }
      values[stored.slot] = try value(next.field, stored, bytes, identifier)
    }
    return values
  }

  private func value(_ field: Field, _ stored: EntityMap.StoredField, _ bytes: [UInt8]) throws -> ManagedValue {
    try value(field, stored, bytes, objectID)
  }

  /// - Parameter identifier: Makes the identifier of an object at the other end of a relationship.
  func value(
    _ field: Field, _ stored: EntityMap.StoredField, _ bytes: [UInt8],
    _ identifier: (RowReference, EntityMap) -> NSManagedObjectID
  ) throws -> ManagedValue {
    switch stored.kind {
    case .attribute(let attribute): return try coder.value(field, of: attribute, stored.type, in: bytes)
    case .toOne:
      if field.type == .null { return .null }
      let (object, map) = try target(of: field, stored, bytes)
      return .reference(identifier(object.reference, map))
    }
  }

  /// The object that a to-one relationship refers to: one of its destination entity, or of an entity that inherits from
  /// it.
  ///
  /// - Throws: `RowDamage` if the field has anything else.
  func object(_ field: Field, _ stored: EntityMap.StoredField, _ bytes: [UInt8]) throws -> ObjectReference {
    try target(of: field, stored, bytes).object
  }

  private func target(
    of field: Field, _ stored: EntityMap.StoredField, _ bytes: [UInt8]
  ) throws -> (object: ObjectReference, map: EntityMap) {
    guard case .toOne(let relationship, _) = stored.kind, let object = try field.object(in: bytes),
      let map = stored.destination(numbered: object.entity) ?? map(of: object, in: relationship)
    else { throw RowDamage("\(stored.name) does not refer to an object of the model", at: field.range.lowerBound) }
    return (object, map)
  }

  /// Whether an object belongs to the destination entity of a relationship, or to an entity that inherits from it.
  package func isMember(_ object: ObjectReference, of relationship: NSRelationshipDescription) -> Bool {
    map(of: object, in: relationship) != nil
  }

  /// The entity of an object at the end of a relationship; nil if it cannot be there.
  func map(of object: ObjectReference, in relationship: NSRelationshipDescription) -> EntityMap? {
    guard let map = schema[object.entity], let destination = relationship.destinationEntity else { return nil }
    let isMember =
      map.entity === destination
      || sequence(first: map.entity, next: \.superentity).contains { $0.name == destination.name }
    return isMember ? map : nil
  }

  /// Appends the field of an attribute or a to-one relationship to a row.
  ///
  /// - Throws: 134030 for a value that cannot be stored; 133000 for an identifier that cannot be one of the store's.
  package func write(_ value: ManagedValue, of field: EntityMap.StoredField, to row: inout FieldWriter) throws {
    guard !row.add(value, field.number, isBoolean: field.isBoolean) else { return }
    switch field.kind {
    case .attribute(let attribute): try coder.write(value, of: attribute, field.number, &row)
    case .toOne:
      guard let id = value.objectID else { return row.begin(field.number, .null) }
      row.object(try reference(id), field.number)
    }
  }

  /// The attributes and to-one relationships of a row by name, for conflicts.
  func snapshot(_ row: [UInt8], _ map: EntityMap) throws -> [String: Any] {
    let values = try values(of: row, map)
    var snapshot: [String: Any] = [:]
    for field in map.fields {
      let value = values[field.slot]
      snapshot[field.name] =
        switch field.kind {
        case .attribute(let attribute): value.anyValue(of: attribute.attributeType) ?? NSNull()
        case .toOne: value.objectID ?? NSNull()
        }
    }
    return snapshot
  }
}

extension FieldWriter {
  /// Appends the field of a value, if the kind of the property matters no further for its encoding.
  ///
  /// - Returns: Whether it does not.
  @inline(__always)
  mutating func add(_ value: ManagedValue, _ number: UInt32, isBoolean: Bool) -> Bool {
    switch value {
    case .string(let text): self.text(text, number)
    case .date(let date): fixed(.date, date.timeIntervalSinceReferenceDate.bitPattern, number)
    case .integer(let integer) where isBoolean: begin(number, integer != 0 ? .truth : .falsity)
    case .integer(let integer): self.integer(integer, number)
    case .null: begin(number, .null)
    default: return false
    }
    return true
  }
}

extension UUID {
  fileprivate var number: UInt128 {
    unsafe Swift.withUnsafeBytes(of: uuid) { unsafe $0.reduce(0) { $0 << 8 | UInt128($1) } }
  }
}
