import CoreData

/// The entries of to-many relationships that a save changes.
///
/// If the inverse of a relationship is to-one, its members follow from that end: from the owner in the stored row of
/// the member and the owner in its new row. Otherwise the members follow from what the objects have added and removed,
/// on whichever end the change was noted. The order of members is that of the owner.
struct RelationshipChanges {
  /// An ordered relationship of an owner.
  private struct OrderedOwner: Hashable {
    let owner: ObjectReference
    let relationship: UInt32
  }

  let access: RowAccess
  let snapshot: any RowSnapshot
  private let objects: [SavedObject]
  /// The places of the objects in the save.
  private let places: ReferenceTable
  private let hasDeletions: Bool
  /// The objects that the relationships would contradict after the save: somebody else has changed them.
  var contradicted: Set<ObjectReference> = []
  private var ordered: [OrderedOwner: OrderedChange] = [:]

  init(_ access: RowAccess, _ snapshot: any RowSnapshot, _ objects: [SavedObject]) {
    self.access = access
    self.snapshot = snapshot
    self.objects = objects
    places = ReferenceTable(objects.lazy.map(\.reference))
    hasDeletions = objects.contains { $0.change == .deleted }
  }

  /// An object of the save; nil if the object is not part of it.
  func saved(_ object: ObjectReference) -> SavedObject? { places[object].map { objects[$0] } }

  /// Whether the save deletes an object.
  func isDeleted(_ object: ObjectReference) -> Bool { hasDeletions && saved(object)?.change == .deleted }

  mutating func collect(into entries: inout EntryChanges) throws {
    for object in objects {
      switch object.change {
      case .locked: break
      case .touched: for set in object.map.sets { try collectMembers(object, set, &entries) }
      case .deleted:
        try collectOwners(object, into: &entries)
        for set in object.map.sets { try removeMembers(object, set, &entries) }
      case .inserted, .updated:
        try collectOwners(object, into: &entries)
        for set in object.map.sets { try collectMembers(object, set, &entries) }
      }
    }
    try removeFromOwners(&entries)
    for (key, change) in ordered.sorted(by: {
      ($0.key.owner, $0.key.relationship) < ($1.key.owner, $1.key.relationship)
    })
    where !isDeleted(key.owner) {
      try change.collect(key.owner.reference, key.relationship, snapshot, into: &entries)
    }
  }

  // MARK: From the to-one end

  /// Removes the object from its owners in the stored row, and adds it to its owners in the new row.
  private mutating func collectOwners(_ saved: SavedObject, into entries: inout EntryChanges) throws {
    for (field, relationship, end) in saved.map.toOnes {
      let old = try saved.stored.flatMap { try owner(field, in: $0.bytes, saved) }
      let new = try saved.bytes.flatMap { try owner(field, in: $0, saved) }
      if old != new { try check(saved, relationship, end, old, new) }
      guard case .toMany(let inverse) = end else { continue }
      // Deleting an owner removed its entries, so an owner that is inserted again needs new ones even for members whose
      // rows do not change.
      guard old != new || new.flatMap(self.saved)?.change == .inserted else { continue }
      if let old, old != new { remove(saved.reference, from: old, inverse, &entries) }
      if let new { add(saved.reference, to: new, inverse, isNew: old != new, &entries) }
    }
  }

  private func owner(_ field: EntityMap.StoredField, in bytes: [UInt8], _ saved: SavedObject) throws -> ObjectReference?
  {
    try StoreFailure.reading("The row of \(access.name(saved.reference))") {
      try FieldReader.field(field.number, of: bytes)?.object(in: bytes)
    }
  }

  // MARK: From the to-many end

  private mutating func collectMembers(
    _ saved: SavedObject, _ set: EntityMap.StoredSet, _ entries: inout EntryChanges
  ) throws {
    if let given = saved.memberChanges[set.end.number] { return try collect(given, saved, set, &entries) }
    if saved.change == .inserted {
      let members = try (saved.object?.members(of: set) ?? []).map { try access.reference($0) }
      for member in members { try join(member, saved, set, &entries) }
      if set.end.isOrdered, !members.isEmpty { orderedChange(saved.reference, set.end).order = members }
      return
    }
    // The rows of the members determine the members.
    if case .toOne = set.inverse, !set.end.isOrdered { return }
    guard let changes = saved.object?.memberChanges(of: set) else { return }
    let change = SavedObject.MemberChange(
      added: try changes.added.map { try access.reference($0) },
      removed: try changes.removed.map { try access.reference($0) },
      order: try changes.order.map { order in try order.map { try access.reference($0) } })
    try collect(change, saved, set, &entries)
  }

  private mutating func collect(
    _ changes: SavedObject.MemberChange, _ saved: SavedObject, _ set: EntityMap.StoredSet,
    _ entries: inout EntryChanges
  ) throws {
    switch set.inverse {
    case .toOne: break
    case .none, .toMany:
      for member in changes.removed where !areEntriesRemoved(of: member, at: set) {
        remove(member, from: saved.reference, set.end, &entries)
        if case .toMany(let end) = set.inverse { remove(saved.reference, from: member, end, &entries) }
      }
      for member in changes.added { try join(member, saved, set, &entries) }
    }
    if set.end.isOrdered {
      let change = orderedChange(saved.reference, set.end)
      if let order = changes.order { change.order = order }
      change.lastOrder = changes.added
    }
  }

  /// Whether the deletion of a member removes its entries in both directions.
  private func areEntriesRemoved(of member: ObjectReference, at set: EntityMap.StoredSet) -> Bool {
    guard hasDeletions, !set.end.isOrdered, case .toMany(let end) = set.inverse, !end.isOrdered else { return false }
    return isDeleted(member)
  }

  /// Adds a member. If the inverse is to-one, the member's row determines its owner; a member that is not part of this
  /// save must already have this owner in its stored row.
  private mutating func join(
    _ member: ObjectReference, _ saved: SavedObject, _ set: EntityMap.StoredSet, _ entries: inout EntryChanges
  ) throws {
    switch set.inverse {
    case .toOne(let number):
      // The members of an object that is inserted again may have rows that need not change.
      guard self.saved(member) == nil, let row = try snapshot.row(member.reference, in: member.entity),
        try StoreFailure.reading(
          "The row of \(member)", { try FieldReader.field(number, of: row.bytes)?.object(in: row.bytes) })
          == saved.reference
      else { return }
      add(member, to: saved.reference, set.end, isNew: true, &entries)
    case .none:
      // Somebody else may have deleted the member, and an object that is gone is a member of nothing.
      guard try exists(member) else { return }
      add(member, to: saved.reference, set.end, isNew: saved.change == .inserted, &entries)
    case .toMany(let end):
      let other = self.saved(member)
      guard try other != nil || exists(member) else {
        contradicted.insert(member)
        return
      }
      let isNew = saved.change == .inserted || other?.change == .inserted
      add(member, to: saved.reference, set.end, isNew: isNew, &entries)
      // The other end adds its own entry.
      if let other, other.hasAdded(saved, to: end) { return }
      add(saved.reference, to: member, end, isNew: isNew, &entries)
    }
  }

  /// Removes all entries of a deleted owner, in both directions.
  private mutating func removeMembers(
    _ saved: SavedObject, _ set: EntityMap.StoredSet, _ entries: inout EntryChanges
  ) throws {
    var members: [ObjectReference] = []
    try snapshot.forEachMember(of: saved.reference.reference, set.end) { member in
      entries.remove(member.entry)
      members.append(member.member)
    }
    switch set.inverse {
    case .none: break
    case .toOne(let field): try checkLeft(members, by: saved, set, field)
    case .toMany(let inverse): for member in members { remove(saved.reference, from: member, inverse, &entries) }
    }
  }

  // MARK: Without an inverse

  /// Removes the deleted objects from the to-many relationships without an inverse. The owners are not known, so this
  /// reads all entries of the relationships that objects of these entities may be members of.
  private func removeFromOwners(_ entries: inout EntryChanges) throws {
    let entities = Set(objects.lazy.filter { $0.change == .deleted }.map(\.reference.entity))
    for (end, members) in access.schema.setsWithoutInverse where !members.isDisjoint(with: entities) {
      let changes = Dictionary(
        ordered.lazy.filter { $0.key.relationship == end.number }.map { ($0.key.owner.reference, $0.value) }
      ) { $1 }
      try snapshot.forEachEntry(beginningWith: Entry.all(of: end.number), reverse: false) { entry in
        let (owner, member) = try StoreFailure.reading("An entry of the relationship \(end.number)") {
          try Entry.membership(in: entry, isOrdered: end.isOrdered)
        }
        guard isDeleted(member) else { return true }
        if let change = changes[owner] { change.leave(member) } else { entries.remove(entry) }
        return true
      }
    }
  }

  // MARK: Entries

  private mutating func add(
    _ member: ObjectReference, to owner: ObjectReference, _ end: ToManyEnd, isNew: Bool, _ entries: inout EntryChanges
  ) {
    guard !isDeleted(owner), !isDeleted(member) else { return }
    if end.isOrdered {
      orderedChange(owner, end).join(member, isNew: isNew)
    } else {
      entries.add(member, of: owner.reference, end.number)
    }
  }

  private mutating func remove(
    _ member: ObjectReference, from owner: ObjectReference, _ end: ToManyEnd, _ entries: inout EntryChanges
  ) {
    if end.isOrdered {
      orderedChange(owner, end).leave(member)
    } else {
      entries.remove(member, of: owner.reference, end.number)
    }
  }

  private mutating func orderedChange(_ owner: ObjectReference, _ end: ToManyEnd) -> OrderedChange {
    let key = OrderedOwner(owner: owner, relationship: end.number)
    if let change = ordered[key] { return change }
    let change = OrderedChange()
    ordered[key] = change
    return change
  }
}

/// The places of references in a list.
private struct ReferenceTable {
  /// A reference that is a number. It takes less time to hash and compare than a reference of any kind.
  private struct Number: Hashable {
    let entity: UInt32
    let number: Int64

    /// Spreads numbers, which the store has given, without the costs of a hash function that resists attacks.
    func _rawHashValue(seed: Int) -> Int {
      let bits = UInt64(bitPattern: number) ^ UInt64(entity) << 48 ^ UInt64(truncatingIfNeeded: seed)
      return Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> 20)
    }
  }

  private var numbers: [Number: Int] = [:]
  private var others: [ObjectReference: Int] = [:]

  init(_ references: some Collection<ObjectReference>) {
    if case .integer? = references.first?.reference { numbers.reserveCapacity(references.count) }
    for (place, object) in references.enumerated() {
      if case .integer(let number) = object.reference {
        numbers[Number(entity: object.entity, number: number)] = place
      } else {
        others[object] = place
      }
    }
  }

  subscript(object: ObjectReference) -> Int? {
    guard case .integer(let number) = object.reference else { return others[object] }
    return numbers[Number(entity: object.entity, number: number)]
  }
}
