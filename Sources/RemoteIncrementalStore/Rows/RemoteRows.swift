import IncrementalStore
import OpenCoreData
import RowFormat

/// Reads what a snapshot has of the service.
struct RemoteRows {
  let snapshot: any RowSnapshot
  let access: RowAccess

  func head() throws -> RemoteHead? {
    try row(StoreHead.remoteReference, in: StoreHead.table).map { try RemoteHead($0) }
  }

  func origin(of object: ObjectReference) throws -> OriginRow? {
    try row(object.reference, in: OriginRow.table).map { try OriginRow($0) }
  }

  /// The object that the service calls so; nil if there is none.
  func object(_ identifier: RemoteIdentifier) throws -> ObjectReference? {
    let prefix = Entry.remote(identifier.value, try root(of: map(of: identifier.entityName)))
    var found: ObjectReference?
    try snapshot.forEachEntry(beginningWith: prefix) { entry in
      found = try StoreFailure.reading("The entry of \(identifier)") {
        try Entry.member(in: entry, after: prefix.count, isOrdered: false).member
      }
      return false
    }
    return found
  }

  /// What the service calls an object; nil if it does not know the object.
  func identifier(of object: ObjectReference) throws -> RemoteIdentifier? {
    guard let name = access.schema[object.entity]?.entity.name else { return nil }
    return try origin(of: object)?.identifier.map { RemoteIdentifier(name, $0) }
  }

  func bytes(of object: ObjectReference) throws -> [UInt8]? { try row(object.reference, in: object.entity) }

  func result(_ key: String) throws -> ResultRow? {
    try row(ResultRow.reference(of: key), in: ResultRow.table).map { try ResultRow($0) }
  }

  /// The objects on the pages of a generation of a list.
  func objects(of result: ResultRow, generation: UInt64, pages: UInt64) throws -> [ObjectReference] {
    var objects: [ObjectReference] = []
    for page in 0..<pages {
      let bytes = try row(ResultRow.reference(of: page, generation, of: result.key), in: ResultRow.table)
      if let bytes { objects += try StoreFailure.reading("A page of \(result.key)") { try ResultPage(bytes).objects } }
    }
    return objects
  }

  func change(_ number: UInt64) throws -> OutboxRow? {
    try row(.integer(Int64(number)), in: OutboxRow.table).map { try OutboxRow($0) }
  }

  /// All changes in the outbox, in their order.
  func changes() throws -> [(number: UInt64, change: OutboxRow)] {
    var changes: [(UInt64, OutboxRow)] = []
    try snapshot.forEachRow(in: OutboxRow.table, from: nil) { row in
      guard case .integer(let number) = row.reference else { return true }
      let bytes = row.bytes
      changes.append((UInt64(number), try StoreFailure.reading("The change \(number)") { try OutboxRow(bytes) }))
      return true
    }
    return changes
  }

  func members(of owner: ObjectReference, _ set: EntityMap.StoredSet) throws -> [ObjectReference] {
    var members: [ObjectReference] = []
    try snapshot.forEachMember(of: owner.reference, set.end) { members.append($0.member) }
    return members
  }

  private func row(_ reference: RowReference, in table: UInt32) throws -> [UInt8]? {
    try snapshot.row(reference, in: table)?.bytes
  }

  // MARK: Entities

  func map(of entityName: String) throws -> EntityMap {
    let entity = access.entity(named: entityName)
    guard let map = entity.flatMap({ access.schema[$0] }) else {
      throw RemoteFailure.invalidAnswer("there is no entity \(entityName)")
    }
    return map
  }

  /// The number of the entity from which an entity inherits and that itself inherits from none.
  func root(of map: EntityMap) throws -> UInt32 {
    var entity = map.entity
    while let parent = entity.superentity { entity = parent }
    return access.schema[entity]?.number ?? map.number
  }
}

extension [UInt8]? {
  fileprivate func map<Row>(_ make: ([UInt8]) throws -> Row) throws -> Row? {
    guard let self else { return nil }
    return try StoreFailure.reading("What is known of a remote service") { try make(self) }
  }
}

extension OriginRow {
  /// Whether changes of the object wait to be sent, or were kept aside.
  var isWaiting: Bool { !changes.isEmpty }
}
