import IncrementalStore
import OpenCoreData
import RowFormat

/// Plans the changes to rows that follow from what a service has answered.
///
/// An object with a change that waits to be sent is left as it is, whatever the service says.
struct RecordRows {
  /// Objects for which there are no references; the plan has to be made again with more.
  struct NeedsReferences: Error {}

  /// An object that was changed here, and of which the service says something else.
  struct Contradiction {
    let object: ObjectReference
    /// Nil if the service does not have the object any more.
    let record: RemoteRecord?
  }

  let rows: RemoteRows
  /// When the service was asked: what it says of objects is as old as that at most.
  private let now: Double
  private var fresh: ArraySlice<RowReference>
  /// References that the plan has not used.
  var unused: ArraySlice<RowReference> { fresh }
  private(set) var edits = RowEdits()
  private var origins: [ObjectReference: OriginRow] = [:]
  /// The objects that the plan has made known, by their identifiers with the roots of their entities.
  private var made: [RemoteIdentifier: ObjectReference] = [:]
  private(set) var contradictions: [Contradiction] = []
  /// Objects that are loaded in whole, and of which a record with another version, or with none, has only a part. The
  /// store has no version of them until it has asked for the rest.
  private(set) var stale: [RemoteReference] = []
  /// Whether a record could not be written as it is, since it refers to objects that were deleted here, or contradicts
  /// changes of other objects that wait.
  private var isIncomplete = false
  /// The roots of entities of which an insertion was sent and not answered: an unknown object may be the inserted one.
  private var unsettled: Set<String>?
  /// The outbox as the plan leaves it.
  var outbox: OutboxEdits

  var access: RowAccess { rows.access }

  /// Whether something newer than this answer is known of an object.
  private let isOld: (RemoteIdentifier) -> Bool
  /// The objects of which the answer was used.
  private(set) var taken: [RemoteIdentifier] = []
  /// Whether something of the answer was left out because something newer is known.
  private(set) var isOutdated = false

  init(
    _ rows: RemoteRows, references: ArraySlice<RowReference>, now: Double, isOld: @escaping (RemoteIdentifier) -> Bool
  ) {
    (self.rows, self.fresh, self.now, self.isOld) = (rows, references, now, isOld)
    outbox = OutboxEdits(rows)
  }

  /// Notes that what the plan says of an object is newer than any answer that has been asked for so far.
  mutating func use(_ identifier: RemoteIdentifier) { taken.append(identifier) }

  /// The plan with all rows.
  func finished() -> RowEdits {
    var edits = edits
    for (object, origin) in origins { edits.additions.put(origin.bytes, at: object.reference, in: OriginRow.table) }
    outbox.add(to: &edits.additions)
    return edits
  }

  mutating func add(_ change: (inout RowAdditions) throws -> Void) rethrows { try change(&edits.additions) }

  // MARK: Origins

  func origin(of object: ObjectReference) throws -> OriginRow? {
    if let origin = origins[object] { return origin }
    return try rows.origin(of: object)
  }

  mutating func set(_ origin: OriginRow, of object: ObjectReference) { origins[object] = origin }

  /// Forgets an object: its origin, its entry, and what changes in the outbox say of it.
  mutating func forget(_ object: ObjectReference) throws {
    try outbox.replace(object, by: nil)
    guard let origin = try origin(of: object) else { return }
    origins[object] = nil
    made = made.filter { $0.value != object }
    edits.additions.delete(object.reference, in: OriginRow.table)
    if let identifier = origin.identifier {
      edits.additions.remove(entry: Entry.remote(identifier, object))
    }
  }

  /// Notes what the service calls an object.
  mutating func name(_ object: ObjectReference, _ identifier: String, _ origin: inout OriginRow) throws {
    guard let entity = access.schema[object.entity]?.entity, origin.identifier != identifier else { return }
    guard identifier.utf8.count <= OriginRow.longestIdentifier else {
      throw RemoteFailure.invalidAnswer("an identifier has more than \(OriginRow.longestIdentifier) bytes")
    }
    if let old = origin.identifier { edits.additions.remove(entry: Entry.remote(old, object)) }
    origin.identifier = identifier
    made[RemoteIdentifier(entity.root.name ?? "", identifier)] = object
    edits.additions.add(entry: Entry.remote(identifier, object))
  }

  /// - Parameter root: The name of the entity from which the object's entity inherits and that inherits from none.
  private func known(_ identifier: RemoteIdentifier, _ root: String) throws -> ObjectReference? {
    try made[RemoteIdentifier(root, identifier.value)] ?? rows.object(identifier)
  }

  /// The object that the service calls so. One that was unknown gets a row without values.
  mutating func object(_ identifier: RemoteIdentifier) throws -> ObjectReference {
    let map = try rows.map(of: identifier.entityName)
    let root = map.entity.root.name ?? ""
    if let known = try known(identifier, root) { return known }
    guard !map.entity.isAbstract else {
      throw RemoteFailure.invalidAnswer("\(identifier) is an object of an abstract entity")
    }
    guard try !isUnsettled(root) else { throw RemoteFailure.unsettled(identifier.entityName) }
    guard let reference = fresh.popFirst() else { throw NeedsReferences() }
    let object = ObjectReference(entity: map.number, reference: reference)
    var origin = OriginRow(entity: map.number)
    try name(object, identifier.value, &origin)
    origins[object] = origin
    edits.edits[object] = RowEdit(object, FieldWriter(isPartial: true).bytes)
    return object
  }

  private mutating func isUnsettled(_ root: String) throws -> Bool {
    if unsettled == nil {
      var roots: Set<String> = []
      for (_, change) in try outbox.changes() where change.kind == .insert && change.state == .sent {
        if let map = access.schema[change.object.entity] { roots.insert(map.entity.root.name ?? "") }
      }
      unsettled = roots
    }
    return unsettled?.contains(root) ?? false
  }

  // MARK: Rows

  func bytes(of object: ObjectReference) throws -> [UInt8]? {
    if let edit = edits.edits[object] { return edit.bytes }
    return try rows.bytes(of: object)
  }

  /// Replaces fields of an object that has a row.
  mutating func set(_ values: [UInt32: ManagedValue], of object: ObjectReference, _ map: EntityMap) throws {
    guard let old = try bytes(of: object), !values.isEmpty else { return }
    try set(values, of: object, map, from: old)
  }

  /// - Parameter isWhole: Whether the values are all that the object has. Without, an object that was not loaded in
  /// whole
  ///   is not now: other values may be older.
  private mutating func set(
    _ values: [UInt32: ManagedValue], of object: ObjectReference, _ map: EntityMap, from old: [UInt8],
    isWhole: Bool = false
  ) throws {
    let fields = map.fields.filter { values[$0.number] != nil }
    var bytes = try access.bytes(of: old, replacing: fields, by: fields.map { values[$0.number] ?? .null }, object)
    let known = try Self.numbers(in: bytes)
    let isPartial = !isWhole && FieldReader.isPartial(old) || map.fields.contains { !known.contains($0.number) }
    bytes[0] = isPartial ? FieldReader.partialFormat : FieldReader.format
    edit(object) { $0.bytes = bytes }
  }

  mutating func edit(_ object: ObjectReference, _ change: (inout RowEdit) throws -> Void) rethrows {
    var edit = edits.edits[object] ?? RowEdit(object, try? rows.bytes(of: object))
    try change(&edit)
    edits.edits[object] = edit
  }

  /// Lets an object count as not loaded in whole, so that it is asked for again, also by a later process. Its values
  /// stay.
  mutating func setPartial(_ object: ObjectReference) {
    guard var bytes = try? bytes(of: object) else { return }
    bytes[0] = FieldReader.partialFormat
    edit(object) { $0.bytes = bytes }
  }

  static func numbers(in bytes: [UInt8]) throws -> Set<UInt32> {
    var numbers: Set<UInt32> = []
    try StoreFailure.reading("A row") {
      var fields = try FieldReader(bytes)
      while let next = try fields.next() { numbers.insert(next.number) }
    }
    return numbers
  }

  // MARK: Records

  /// Takes what a service says of an object, unless something newer is known. Returns nil if the object does not exist
  /// any more, or an object that the record mentions does not.
  ///
  /// - Parameter isWhole: Whether the object has no other values than the record says.
  @discardableResult
  mutating func take(_ record: RemoteRecord, isWhole: Bool) throws -> ObjectReference? {
    for identifier in record.mentioned where isOld(identifier) {
      isOutdated = true
      if try rows.object(identifier) == nil || identifier == record.identifier {
        return try rows.object(record.identifier)
      }
    }
    taken.append(record.identifier)
    let object = try object(record.identifier)
    guard let map = access.schema[object.entity] else { return object }
    var origin = try origin(of: object) ?? OriginRow(entity: map.number)
    guard !origin.isWaiting else {
      contradictions.append(Contradiction(object: object, record: record))
      return object
    }
    let (before, former) = (try bytes(of: object), origin.tag)
    try write(record, of: object, map, &origin, isWhole: isWhole)
    if !isWhole, let before, !FieldReader.isPartial(before),
      try isStale(record, former, origin, map, changes: before != bytes(of: object))
    {
      origin.tag = former
      origins[object] = origin
      stale.append(RemoteReference(record.identifier, tag: former))
    }
    return object
  }

  /// Whether an object that is loaded in whole has properties that may have changed, and that a record does not have.
  private func isStale(
    _ record: RemoteRecord, _ former: String?, _ origin: OriginRow, _ map: EntityMap, changes: Bool
  ) throws -> Bool {
    let hasAll =
      map.fields.allSatisfy { record.values[$0.name] != nil }
      && map.sets.allSatisfy {
        !origin.knownSets.contains(UInt64($0.end.number)) || record.members[$0.name]?.isComplete == true
      }
    guard !hasAll else { return false }
    // Without versions, what the record has tells whether the object has changed; an identifier alone tells nothing.
    guard former != nil || record.tag != nil else { return changes || record.values.isEmpty }
    return record.tag != former
  }

  /// Writes the values of a record, whether a change waits or not.
  mutating func write(
    _ record: RemoteRecord, of object: ObjectReference, _ map: EntityMap, _ origin: inout OriginRow, isWhole: Bool
  ) throws {
    guard !record.values.isEmpty || !record.members.isEmpty || isWhole else { return }
    origins[object] = origin
    isIncomplete = false
    let old = try bytes(of: object) ?? FieldWriter(isPartial: true).bytes
    let known = try Self.numbers(in: old)
    var values: [UInt32: ManagedValue] = [:]
    for field in map.fields {
      if let value = record.values[field.name] {
        values[field.number] = try managed(value, field, record.identifier)
      } else if isWhole, !known.contains(field.number) {
        if case .attribute(let attribute) = field.kind {
          values[field.number] = ManagedValue(attribute.defaultValue, of: attribute)
        } else {
          values[field.number] = .null
        }
      }
    }
    try agree(values, of: object, map)
    try set(
      values, of: object, map, from: try bytes(of: object) ?? old,
      isWhole: isWhole || map.fields.allSatisfy { record.values[$0.name] != nil })
    origin = origins[object] ?? origin
    for (name, members) in record.members.sorted(by: { $0.key < $1.key }) {
      guard let set = map.set(named: name) else { continue }
      try take(members, of: object, set)
      if members.isComplete, !origin.knownSets.contains(UInt64(set.end.number)) {
        origin.knownSets = (origin.knownSets + [UInt64(set.end.number)]).sorted()
      }
    }
    // What was left out may come with the same version again.
    origin.tag = isIncomplete ? nil : record.tag
    origin.readAt = now
    origins[object] = origin
  }

  mutating func managed(
    _ value: RemoteValue, _ field: EntityMap.StoredField, _ identifier: RemoteIdentifier
  ) throws -> ManagedValue {
    switch field.kind {
    case .attribute(let attribute):
      if let managed = value.managed(as: attribute.attributeType) { return managed }
    case .toOne(let relationship, _):
      switch value {
      case .null: return .null
      case .object(let related): return try reference(to: related)
      case .string(let text):
        return try reference(to: RemoteIdentifier(relationship.destinationEntity?.name ?? "", text))
      case .integer(let number):
        return try reference(to: RemoteIdentifier(relationship.destinationEntity?.name ?? "", "\(number)"))
      default: break
      }
    }
    throw RemoteFailure.invalidAnswer("\(identifier) has the value \(value) for \(field.name)")
  }

  /// No object if it was deleted here and the service does not know that yet.
  private mutating func reference(to identifier: RemoteIdentifier) throws -> ManagedValue {
    let object = try object(identifier)
    guard try exists(object) else { return .null }
    return access.objectID(object).map { .reference($0) } ?? .null
  }

  /// Whether an object has a row. One that was deleted here has none, although the service may still tell of it.
  private mutating func exists(_ object: ObjectReference) throws -> Bool {
    if try bytes(of: object) != nil { return true }
    isIncomplete = true
    return false
  }

  // MARK: Relationships

  /// Changes the objects at the other ends of to-one relationships whose inverses are to-one, too.
  private mutating func agree(
    _ values: [UInt32: ManagedValue], of object: ObjectReference, _ map: EntityMap
  ) throws {
    guard let ownID = access.objectID(object) else { return }
    for field in map.fields {
      guard case .toOne(_, inverse: .toOne(let number)) = field.kind, let value = values[field.number] else { continue }
      let new = try value.objectID.map { try access.reference($0) }
      if let old = try end(of: field.number, of: object), old != new { try point(old, number, to: nil) }
      guard let new else { continue }
      if let other = try end(of: number, of: new), other != object { try point(other, field.number, to: nil) }
      try point(new, number, to: ownID)
    }
  }

  /// The object that a to-one relationship refers to.
  private func end(of number: UInt32, of object: ObjectReference) throws -> ObjectReference? {
    guard let bytes = try bytes(of: object) else { return nil }
    return try StoreFailure.reading("The row of \(access.name(object))") {
      try FieldReader.field(number, of: bytes)?.object(in: bytes)
    }
  }

  private mutating func point(_ object: ObjectReference, _ number: UInt32, to id: NSManagedObjectID?) throws {
    guard let map = access.schema[object.entity] else { return }
    try set([number: id.map { .reference($0) } ?? .null], of: object, map)
  }

  /// Takes members of a to-many relationship. Objects with changes that wait stay where they are.
  mutating func take(_ members: RemoteMembers, of owner: ObjectReference, _ set: EntityMap.StoredSet) throws {
    var listed: [ObjectReference] = []
    var known: Set<ObjectReference> = []
    for identifier in members.identifiers {
      let member = try object(identifier)
      if known.insert(member).inserted { listed.append(member) }
    }
    try take(listed, isComplete: members.isComplete, of: owner, set)
  }

  /// Returns the objects that became members or ceased to be.
  @discardableResult
  mutating func take(
    _ listed: [ObjectReference], isComplete: Bool, of owner: ObjectReference, _ set: EntityMap.StoredSet
  ) throws -> Set<ObjectReference> {
    let listed = try listed.filter { try exists($0) }
    let present = try rows.members(of: owner, set)
    let wanted = Set(listed)
    let known = Set(present)
    var added = listed.filter { !known.contains($0) }
    var removed = isComplete ? present.filter { !wanted.contains($0) } : []
    if case .toOne(let number) = set.inverse {
      let ownerID = access.objectID(owner)
      added = try listed.filter { try !isWaiting($0) && end(of: number, of: $0) != owner }
      removed = try removed.filter { try !isWaiting($0) && end(of: number, of: $0) == owner }
      for member in added { try point(member, number, to: ownerID) }
      for member in removed { try point(member, number, to: nil) }
      if set.end.isOrdered {
        edit(owner) { $0.members[set.end.number] = .init(added: [], removed: [], order: listed) }
      }
      return Set(added + removed)
    }
    let undecided = try Set((added + removed).filter { try isUndecided($0, of: owner, set) })
    if !undecided.isEmpty { isIncomplete = true }
    added.removeAll { undecided.contains($0) }
    removed.removeAll { undecided.contains($0) }
    guard !added.isEmpty || !removed.isEmpty || set.end.isOrdered && listed != present else { return [] }
    edit(owner) {
      $0.members[set.end.number] = .init(added: added, removed: removed, order: set.end.isOrdered ? listed : nil)
    }
    if case .toMany = set.inverse {
      // Their versions rise.
      for member in added + removed { edit(member) { $0.isTouched = true } }
    }
    return Set(added + removed)
  }

  /// Reads what becomes of the members of a relationship that was read by itself.
  ///
  /// If that contradicts what is known of objects that are loaded in whole, either may be older; so they are asked for.
  mutating func take(
    allMembers members: [ObjectReference], of owner: ObjectReference, _ set: EntityMap.StoredSet
  ) throws {
    guard try identifier(of: owner).map({ !isOld($0) }) ?? true, let map = access.schema[owner.entity] else { return }
    for member in try take(members, isComplete: true, of: owner, set) {
      guard let bytes = try bytes(of: member), !FieldReader.isPartial(bytes), var origin = try origin(of: member),
        let identifier = try identifier(of: member)
      else { continue }
      origin.tag = nil
      origins[member] = origin
      setPartial(member)
      stale.append(RemoteReference(identifier))
    }
    var origin = try origin(of: owner) ?? OriginRow(entity: map.number)
    origin.knownSets = Set(origin.knownSets + [UInt64(set.end.number)]).sorted()
    origins[owner] = origin
  }

  private func identifier(of object: ObjectReference) throws -> RemoteIdentifier? {
    guard let name = access.schema[object.entity]?.entity.name else { return nil }
    return try origin(of: object)?.identifier.map { RemoteIdentifier(name, $0) }
  }

  /// Whether a change of an object that waits says whether it is a member.
  private func isUndecided(
    _ member: ObjectReference, of owner: ObjectReference, _ set: EntityMap.StoredSet
  ) throws -> Bool {
    guard case .toMany(let inverse) = set.inverse, let origin = try origin(of: member) else { return false }
    return try origin.changes.contains { number in
      try outbox.change(number)?.members.contains {
        $0.relationship == inverse.number && ($0.added.contains(owner) || $0.removed.contains(owner))
      } ?? false
    }
  }

  private func isWaiting(_ object: ObjectReference) throws -> Bool { try origin(of: object)?.isWaiting ?? false }

  // MARK: Deletion

  /// Removes an object that the service does not have any more.
  mutating func remove(_ identifier: RemoteIdentifier) throws {
    guard !isOld(identifier) else { return }
    taken.append(identifier)
    let root = try rows.map(of: identifier.entityName).entity.root.name ?? ""
    guard let object = try known(identifier, root) else { return }
    try remove(object)
  }

  mutating func remove(_ object: ObjectReference) throws {
    guard try !isWaiting(object) else {
      contradictions.append(Contradiction(object: object, record: nil))
      return
    }
    try delete(object)
    try forget(object)
  }

  /// Deletes the row of an object, and what refers to the object.
  mutating func delete(_ object: ObjectReference) throws {
    guard let map = access.schema[object.entity], try bytes(of: object) != nil else { return }
    for set in map.sets {
      guard case .toOne(let number) = set.inverse else { continue }
      for member in try rows.members(of: object, set) where try end(of: number, of: member) == object {
        try point(member, number, to: nil)
      }
    }
    for field in map.fields {
      guard case .toOne(_, inverse: .toOne(let number)) = field.kind, let other = try end(of: field.number, of: object),
        try end(of: number, of: other) == object
      else { continue }
      try point(other, number, to: nil)
    }
    edit(object) {
      $0.bytes = nil
      $0.members = [:]
    }
  }
}

extension RemoteRecord {
  /// The object itself, and those to which it refers.
  fileprivate var mentioned: [RemoteIdentifier] {
    var mentioned = [identifier]
    for case .object(let related) in values.values { mentioned.append(related) }
    for related in members.values { mentioned += related.identifiers }
    return mentioned
  }
}
