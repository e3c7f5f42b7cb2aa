import CoreData

/// The entries of uniqueness constraints that a save changes.
struct KeyChanges {
  private struct Key: Hashable {
    let constraint: UInt32
    let key: [UInt8]
  }

  private let access: RowAccess
  private let snapshot: any RowSnapshot
  private var takers: [Key: [(saved: SavedObject, names: [String])]] = [:]

  init(_ access: RowAccess, _ snapshot: any RowSnapshot) {
    self.access = access
    self.snapshot = snapshot
  }

  mutating func collect(_ saved: SavedObject, into entries: inout EntryChanges) throws {
    guard saved.change != .locked else { return }
    for constraint in saved.map.constraints {
      let old = try saved.stored.flatMap { try key(of: constraint, $0.bytes, saved) }
      let new = try saved.bytes.flatMap { try key(of: constraint, $0, saved) }
      guard old != new else { continue }
      if let old { entries.remove(Entry.holder(saved.reference, of: old, constraint.number)) }
      if let new {
        entries.add(Entry.holder(saved.reference, of: new, constraint.number))
        takers[Key(constraint: constraint.number, key: new), default: []].append((saved, constraint.names))
      }
    }
  }

  private func key(of constraint: EntityMap.Constraint, _ bytes: [UInt8], _ saved: SavedObject) throws -> [UInt8]? {
    try StoreFailure.reading("The row of \(saved.object.objectID)") {
      try UniqueKey.key(of: constraint.fields, in: bytes, normalized: UniqueKey.normalized)
    }
  }

  /// - Throws: `KeyConflicts` if a key would belong to more than one object.
  func check(_ entries: EntryChanges) throws {
    var conflicts: [KeyConflict] = []
    for (key, takers) in takers {
      let prefix = Entry.key(key.key, key.constraint)
      var holder: ObjectReference?
      try snapshot.forEachEntry(beginningWith: prefix, reverse: false) { entry in
        guard !entries.isRemoved(entry) else { return true }
        let (member, _) = try StoreFailure.reading("An entry of the constraint \(key.constraint)") {
          try Entry.member(in: entry, behind: prefix.count, isOrdered: false)
        }
        guard !takers.contains(where: { $0.saved.reference == member }) else { return true }
        holder = member
        return false
      }
      guard holder != nil || takers.count > 1, let first = takers.first else { continue }
      let objects = takers.map(\.saved).sorted(by: SavedObject.comesFirst)
      conflicts.append(KeyConflict(names: first.names, holder: holder, takers: objects))
    }
    guard conflicts.isEmpty else {
      throw KeyConflicts(
        conflicts: conflicts.sorted {
          ($0.takers[0].reference, $0.names.joined()) < ($1.takers[0].reference, $1.names.joined())
        })
    }
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
        values = try StoreFailure.reading("The row of \(holder)") { try store.access.snapshot(row, map) }
      }
      return NSConstraintConflict(
        constraint: conflict.names, database: id.flatMap { context?.object(with: $0) }, databaseSnapshot: values,
        conflicting: conflict.takers.map(\.object),
        conflictingSnapshots: try conflict.takers.map { taker in
          try taker.stored.map { try store.access.snapshot($0, taker.map) } ?? [:]
        })
    }
    let first = conflicts.first.map { ", the first of \($0.names.joined(separator: ", "))" } ?? ""
    return StoreFailure.make(
      NSManagedObjectConstraintMergeError,
      "Values that must be unique belong to other objects: \(conflicts.count)\(first).",
      [NSPersistentStoreSaveConflictsErrorKey: made])
  }
}
