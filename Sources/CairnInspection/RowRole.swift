package import Cairn
package import RowFormat

/// What a row of a Core Data store is for: STORE-FORMAT.md, sections 1, 3, 7, 9 and 10.
package enum RowRole: Hashable, Sendable {
  case metadata
  case schema
  case reservedReferences
  case historyHead
  /// The transaction of the history with the number.
  case transaction(Int64)
  /// What is known of a remote service as a whole.
  case remoteHead
  /// What is known of the object with the reference at a remote service.
  case origin(RowReference)
  /// A list of a remote service, under this text.
  case result(String)
  /// A page of such a list, under this text.
  case resultPage(String)
  /// The change with the number that waits for a remote service.
  case outboxChange(Int64)
  case object(ObjectReference)
  /// How often the row of an object was touched.
  case touches(ObjectReference)
  /// Entries of relationships, constraints and indexes, from this lower bound on.
  case entries(from: [UInt8])
}

/// The decoded value of such a row.
package enum RowContent {
  /// The texts of the metadata that every store has; nil if they are missing.
  case metadata(uuid: String?, type: String?)
  case schema(Schema)
  case reservedReferences(NumbersGivenOut)
  case historyHead(HistoryHead)
  case transaction(HistoryRecord)
  case remoteHead(RemoteHead)
  case origin(OriginRow)
  case result(ResultRow)
  case resultPage(ResultPage)
  case outboxChange(OutboxRow)
  case object([NamedValue], isPartial: Bool)
  case touches
  case entries([EntryContent])
}

/// The value of an object's attribute or to-one relationship.
package struct NamedValue: Hashable, Sendable {
  /// The name of the property; `property 7` if the schema does not have it.
  package let name: String
  package let isRelationship: Bool
  package let value: StoredValue
}

extension ObjectNames {
  /// The names as the newest schema of a store has them, also of earlier rows: numbers are permanent.
  ///
  /// Nil for a store without Core Data objects, and if its metadata or its schema cannot be read.
  package static func read(from store: Store) -> ObjectNames? {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    return try? ObjectStore(snapshot, of: store).names
  }

  /// Whether a commit writes the metadata or the schema of a Core Data store.
  package static func mayChange(in commit: LoggedCommit) -> Bool {
    commit.changes.contains { change in
      change.keyspace == RowStructures.name(RowStructures.head)
        && (change.record.key == .row(.integer(1)) || change.record.key == .row(.integer(2)))
    }
  }

  // MARK: Keyspaces

  /// The name of the entity whose objects are in a keyspace.
  package func entityName(in keyspace: String) -> String? { entity(in: keyspace)?.name }

  private func entity(in keyspace: String) -> Schema.Entity? {
    RowStructures.table(keyspace).flatMap { index.entities[$0] }
  }

  private func touchedEntity(in keyspace: String) -> Schema.Entity? {
    RowStructures.touchedTable(keyspace).flatMap { index.entities[$0] }
  }

  /// What is in a keyspace, in words; nil if it is not part of the Core Data store.
  package func title(of keyspace: String) -> String? {
    switch keyspace {
    case RowStructures.name(RowStructures.head): "metadata and schema"
    case RowStructures.name(HistoryRecord.table): "history"
    case RowStructures.name(OriginRow.table): "origins at the service"
    case RowStructures.name(ResultRow.table): "lists of the service"
    case RowStructures.name(OutboxRow.table): "changes for the service"
    case RowStructures.packs: "relationships, uniqueness and indexes"
    default: entityName(in: keyspace) ?? touchedEntity(in: keyspace).map { "\($0.name), touches" }
    }
  }

  /// The keyspace with the objects of an entity, without those of its subentities.
  package func keyspace(of entity: Schema.Entity) -> String { RowStructures.name(entity.number) }

  /// The keyspace with the objects of the entity of this name, or else the keyspace of this name.
  package func keyspace(named name: String) -> String {
    schema.entities.first { $0.name == name }.map(keyspace) ?? name
  }

  // MARK: Rows

  /// Where the row of an object is.
  package func row(of object: ObjectReference) -> (keyspace: String, key: Key) {
    (RowStructures.name(object.entity), Key(object.reference))
  }

  /// Where it is counted how often the row of an object was touched.
  package func touches(of object: ObjectReference) -> (keyspace: String, key: Key) {
    (RowStructures.nameOfTouches(object.entity), Key(object.reference))
  }

  /// Nil if the row is not one that a Core Data store has.
  package func role(of key: Key, in keyspace: String) -> RowRole? {
    switch (keyspace, key) {
    case (RowStructures.name(RowStructures.head), .integer(1)): return .metadata
    case (RowStructures.name(RowStructures.head), .integer(2)): return .schema
    case (RowStructures.name(RowStructures.head), .integer(3)): return .reservedReferences
    case (RowStructures.name(RowStructures.head), .integer(4)): return .historyHead
    case (RowStructures.name(RowStructures.head), .integer(5)): return .remoteHead
    case (RowStructures.name(HistoryRecord.table), .integer(let number)): return .transaction(number)
    case (RowStructures.name(OriginRow.table), _): return RowReference(key).map { .origin($0) }
    case (RowStructures.name(ResultRow.table), .string(let text)):
      return text.utf8.contains(UInt8(ascii: "/")) ? .resultPage(text) : .result(text)
    case (RowStructures.name(OutboxRow.table), .integer(let number)): return .outboxChange(number)
    case (RowStructures.packs, .bytes(let bound)): return .entries(from: bound)
    default:
      guard let reference = RowReference(key) else { return nil }
      if let entity = entity(in: keyspace) {
        return .object(ObjectReference(entity: entity.number, reference: reference))
      }
      return touchedEntity(in: keyspace).map {
        .touches(ObjectReference(entity: $0.number, reference: reference))
      }
    }
  }

  /// Nil if the record is not of such a row.
  package func role(of record: LogRecord) -> RowRole? {
    guard case .row(let key) = record.key, let keyspace = record.keyspaceName else { return nil }
    return role(of: key, in: keyspace)
  }

  /// Nil if the value cannot be decoded.
  package func content(of role: RowRole, _ value: [UInt8]) -> RowContent? {
    do throws(RowDamage) {
      switch role {
      case .metadata:
        return .metadata(
          uuid: try BinaryPropertyList.text("NSStoreUUID", in: value),
          type: try BinaryPropertyList.text("NSStoreType", in: value))
      case .schema: return .schema(try Schema(value))
      case .reservedReferences: return .reservedReferences(try NumbersGivenOut(value))
      case .historyHead: return .historyHead(try HistoryHead(value))
      case .transaction: return .transaction(try HistoryRecord(value, withChanges: false))
      case .remoteHead: return .remoteHead(try RemoteHead(value))
      case .origin: return .origin(try OriginRow(value))
      case .result: return .result(try ResultRow(value))
      case .resultPage: return .resultPage(try ResultPage(value))
      case .outboxChange: return .outboxChange(try OutboxRow(value))
      case .object:
        return .object(try values(in: value), isPartial: RowFormat.FieldReader.isPartial(value))
      case .touches: return .touches
      case .entries: return .entries(try entries(in: value))
      }
    } catch {
      return nil
    }
  }

  func values(in row: [UInt8]) throws(RowDamage) -> [NamedValue] {
    var values: [NamedValue] = []
    var fields = try RowFormat.FieldReader(row)
    while let (number, field) = try fields.next() {
      let property = index.properties[number]?.property
      let value = try StoredValue(field, in: row)
      values.append(
        NamedValue(
          name: property?.name ?? "property \(number)",
          isRelationship: property?.kind.relationship != nil || field.type == .object, value: value))
    }
    return values
  }

  private func entries(in pack: [UInt8]) throws(RowDamage) -> [EntryContent] {
    var entries: [EntryContent] = []
    var reader = try PackReader(pack)
    while try reader.next() { entries.append(try EntryContent(reader.entry, index)) }
    return entries
  }

  // MARK: Entries

  /// The first entry that a pack may have; nil if its lower bound is not an entry.
  package func entry(at bound: [UInt8]) -> EntryContent? { try? EntryContent(bound, index) }

  /// As `Person.pets`.
  package func name(of relationship: SchemaIndex.Property) -> String {
    "\(entityName(relationship.entity)).\(relationship.property.name)"
  }

  /// The names of the attributes of a uniqueness constraint, in its order.
  package func attributes(of constraint: SchemaIndex.Constraint) -> [String] {
    constraint.constraint.attributes.map { index.properties[$0]?.property.name ?? "property \($0)" }
  }

  /// The names of the properties of a declared index, in its order.
  package func names(of index: Schema.Index) -> [String] {
    index.properties.map { self.index.properties[$0]?.property.name ?? "property \($0)" }
  }

  /// A condition of a partial index, as in `status == "open"`.
  package func words(for condition: Schema.Index.Condition) -> String {
    let name = index.properties[condition.property]?.property.name ?? "property \(condition.property)"
    let constant = (try? IndexKey.value(in: condition.constant)).map(words) ?? "?"
    return "\(name) \(condition.comparison.symbol) \(constant)"
  }

  private func words(for value: IndexedValue) -> String {
    switch value {
    case .null: "nil"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .decimal(let number): "\(number)"
    case .text(let text): "\"\(text)\""
    case .date(let seconds): "\(seconds) seconds since 2001"
    case .uuid(let bytes), .data(let bytes):
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    case .object(let object): "\(object)"
    }
  }

  /// The relationship, constraint or index of the first entry that a pack may have.
  func prefix(of pack: Key) -> String? {
    guard case .bytes(let bound) = pack else { return nil }
    guard !bound.isEmpty else { return "the first entries" }
    var input = ByteInput(bound)
    guard let number = try? input.number() else { return nil }
    if let relationship = index.properties[number] { return name(of: relationship) }
    if let declared = index.indexes[number] {
      return "\(entityName(declared.entity)) by \(names(of: declared).joined(separator: ", "))"
    }
    if number == Entry.remoteNumber { return "remote identifiers" }
    return index.constraints[number].map {
      "\(entityName($0.entity)) by \(attributes(of: $0).joined(separator: ", "))"
    }
  }
}
