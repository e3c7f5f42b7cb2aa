import CoreData

/// The entries of uniqueness constraints that a save changes, and those that it relies on: of the keys that rows take,
/// and of the keys that updated rows give up. The latter must exist and agree with the rows.
struct KeyChanges {
  private struct Key: Hashable {
    let constraint: UInt32
    let bytes: [UInt8]
  }

  /// The objects of the save that are concerned with a key.
  private final class Claim {
    let constraint: EntityMap.Constraint
    /// The updated objects that have the key in the store and give it up.
    var owners: [SavedObject] = []
    /// The updated and deleted objects that have the key in the store and give it up.
    var leavers: Set<ObjectReference> = []
    /// The objects that want the key and do not have it in the store.
    var takers: [SavedObject] = []

    init(_ constraint: EntityMap.Constraint) { self.constraint = constraint }

    func isOwner(_ object: ObjectReference) -> Bool { owners.contains { $0.reference == object } }
  }

  private let access: RowAccess
  private let snapshot: any RowSnapshot
  private var claims: [Key: Claim] = [:]

  /// - Parameter capacity: How many keys there may be.
  init(_ access: RowAccess, _ snapshot: any RowSnapshot, capacity: Int) {
    self.access = access
    self.snapshot = snapshot
    claims.reserveCapacity(capacity)
  }

  mutating func collect(_ saved: SavedObject, into entries: inout EntryChanges) throws {
    for constraint in saved.map.constraints where try !keepsFields(of: constraint, saved) {
      let old = try saved.stored.flatMap { try key(of: constraint, $0.bytes, saved.reference) }
      let new = try saved.bytes.flatMap { try key(of: constraint, $0, saved.reference) }
      guard old != new else { continue }
      if let old {
        entries.remove(Entry.holder(saved.reference, of: old.bytes, old.constraint))
        let claim = claim(to: old, constraint)
        claim.leavers.insert(saved.reference)
        if saved.change == .updated { claim.owners.append(saved) }
      }
      if let new {
        entries.add(Entry.holder(saved.reference, of: new.bytes, new.constraint))
        claim(to: new, constraint).takers.append(saved)
      }
    }
  }

  private func keepsFields(of constraint: EntityMap.Constraint, _ saved: SavedObject) throws -> Bool {
    guard let old = saved.stored?.bytes, let new = saved.bytes else { return false }
    return try StoreFailure.reading("The row of \(access.name(saved.reference))") {
      try constraint.fields.allSatisfy { try FieldReader.isSame($0, in: old, new) }
    }
  }

  private mutating func claim(to key: Key, _ constraint: EntityMap.Constraint) -> Claim {
    if let claim = claims[key] { return claim }
    let claim = Claim(constraint)
    claims[key] = claim
    return claim
  }

  private func key(
    of constraint: EntityMap.Constraint, _ bytes: [UInt8], _ object: ObjectReference
  ) throws -> Key? {
    try StoreFailure.reading("The row of \(access.name(object))") {
      try UniqueKey.key(of: constraint.fields, in: bytes, normalized: UniqueKey.normalized)
    }.map { Key(constraint: constraint.number, bytes: $0) }
  }

  /// - Throws: `KeyConflicts` if a key would belong to more than one object; 259 if an entry of one of the keys is
  ///   missing or does not agree with the rows.
  func check() throws {
    if snapshot.isRemote { try readAll() }
    var conflicts: [KeyConflict] = []
    for (key, claim) in claims where !claim.owners.isEmpty || !claim.takers.isEmpty {
      let holder = try holder(of: key, claim)
      if let owner = claim.owners.first(where: { $0.reference != holder }) {
        throw damaged(claim, "that of \(access.name(owner.reference)) is missing", at: 0)
      }
      let keeper = holder.flatMap { claim.leavers.contains($0) ? nil : $0 }
      guard !claim.takers.isEmpty, keeper != nil || claim.takers.count > 1 else { continue }
      let takers = claim.takers.sorted(by: SavedObject.comesFirst)
      conflicts.append(KeyConflict(names: claim.constraint.names, holder: keeper, takers: takers))
    }
    guard conflicts.isEmpty else {
      throw KeyConflicts(
        conflicts: conflicts.sorted {
          ($0.takers[0].reference, $0.names.joined()) < ($1.takers[0].reference, $1.names.joined())
        })
    }
  }

  /// Asks for all that will be checked, before anything is missed: what a remote store has not been asked for yet does
  /// not exist in a first run.
  private func readAll() throws {
    for (key, claim) in claims where !claim.owners.isEmpty || !claim.takers.isEmpty {
      try forEachHolder(of: key, claim) { holder in
        if !claim.isOwner(holder) { _ = try snapshot.row(holder.reference, in: holder.entity) }
      }
    }
  }

  /// The object that has a key in the store; nil if the key has no entry.
  private func holder(of key: Key, _ claim: Claim) throws -> ObjectReference? {
    let place = Entry.key(key.bytes, key.constraint).count
    var holder: ObjectReference?
    try forEachHolder(of: key, claim) { object in
      if let holder {
        throw damaged(claim, "\(access.name(holder)) and \(access.name(object)) have the same values", at: place)
      }
      guard try has(object, key, claim) else {
        throw damaged(claim, "\(access.name(object)) does not have the values of its entry", at: place)
      }
      holder = object
    }
    return holder
  }

  /// Calls `body` with each object that has an entry for a key. There should be at most one.
  private func forEachHolder(of key: Key, _ claim: Claim, _ body: (ObjectReference) throws -> Void) throws {
    let prefix = Entry.key(key.bytes, key.constraint)
    try snapshot.forEachEntry(beginningWith: prefix, reverse: false) { entry in
      let (holder, _) = try StoreFailure.reading(Self.place(claim)) {
        try Entry.member(in: entry, after: prefix.count, isOrdered: false)
      }
      try body(holder)
      return true
    }
  }

  /// Whether the row of an object has a key.
  private func has(_ object: ObjectReference, _ key: Key, _ claim: Claim) throws -> Bool {
    if claim.isOwner(object) { return true }
    guard let row = try snapshot.row(object.reference, in: object.entity) else { return false }
    return try self.key(of: claim.constraint, row.bytes, object) == key
  }

  private static func place(_ claim: Claim) -> String {
    "An entry of the constraint of \(claim.constraint.names.joined(separator: ", "))"
  }

  private func damaged(_ claim: Claim, _ words: String, at position: Int) -> NSError {
    StoreFailure.damaged(Self.place(claim), RowDamage(words, at: position))
  }
}

/// A combination of values that an object of the save wants and another object has or wants.
struct KeyConflict {
  let names: [String]
  /// The object that has it in the store; nil if only objects of the save want it.
  let holder: ObjectReference?
  let takers: [SavedObject]
}

/// The reason why a save did not take place. Sendable, because errors must be; only the thread that saves catches it.
struct KeyConflicts: Error, @unchecked Sendable {
  let conflicts: [KeyConflict]

  func error(_ store: RowIncrementalStore, _ context: NSManagedObjectContext?) throws -> NSError {
    let snapshot = try store.rows.snapshot()
    let made = try conflicts.map { conflict in
      let id = conflict.holder.flatMap { store.access.objectID($0) }
      var values: [String: Any]?
      if let holder = conflict.holder, let map = store.access.schema[holder.entity],
        let row = try snapshot.row(holder.reference, in: holder.entity)
      {
        values = try StoreFailure.reading("The row of \(holder)") { try store.access.snapshot(row.bytes, map) }
      }
      return NSConstraintConflict(
        constraint: conflict.names, database: id.flatMap { context?.object(with: $0) }, databaseSnapshot: values,
        conflicting: conflict.takers.compactMap(\.object),
        conflictingSnapshots: try conflict.takers.map { taker in
          try taker.stored.map { try store.access.snapshot($0.bytes, taker.map) } ?? [:]
        })
    }
    let first = conflicts.first.map { ", the first of \($0.names.joined(separator: ", "))" } ?? ""
    return StoreFailure.make(
      NSManagedObjectConstraintMergeError,
      "Values that must be unique belong to other objects: \(conflicts.count)\(first).",
      [NSPersistentStoreSaveConflictsErrorKey: made])
  }
}
