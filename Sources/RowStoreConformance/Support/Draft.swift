import IncrementalStore

/// Changes in any order, from which a save is made.
struct Draft {
  private(set) var rows: [ObjectReference: RowChanges.Row.Change] = [:]
  private(set) var added: Set<[UInt8]> = []
  private(set) var removed: Set<[UInt8]> = []

  mutating func put(_ bytes: [UInt8], _ reference: RowReference, in table: UInt32) {
    rows[ObjectReference(entity: table, reference: reference)] = .put(bytes)
  }

  /// The row must exist.
  mutating func touch(_ reference: RowReference, in table: UInt32) {
    rows[ObjectReference(entity: table, reference: reference)] = .touch
  }

  /// The row must exist.
  mutating func delete(_ reference: RowReference, in table: UInt32) {
    rows[ObjectReference(entity: table, reference: reference)] = .delete
  }

  mutating func add(_ entry: [UInt8]) {
    removed.remove(entry)
    added.insert(entry)
  }

  mutating func remove(_ entry: [UInt8]) {
    added.remove(entry)
    removed.insert(entry)
  }

  /// The changes as a save on top of a snapshot.
  func changes(_ snapshot: any RowSnapshot) throws -> RowChanges {
    var changes = RowChanges()
    changes.rows = try rows.sorted { $0.key < $1.key }.map { object, change in
      RowChanges.Row(
        table: object.entity, reference: object.reference, change: change,
        revision: try snapshot.row(object.reference, in: object.entity)?.revision)
    }
    changes.removedEntries = removed.sorted { $0.lexicographicallyPrecedes($1) }
    changes.addedEntries = added.sorted { $0.lexicographicallyPrecedes($1) }
    return changes
  }
}

extension RowStore {
  /// Saves what `fill` adds to a draft, which may depend on the snapshot of the save and is called again if the save is
  /// made again.
  @discardableResult
  func apply(_ fill: (inout Draft, any RowSnapshot) throws -> Void) throws -> UInt64 {
    try save { snapshot in
      var draft = Draft()
      try fill(&draft, snapshot)
      return try draft.changes(snapshot)
    }
  }

  @discardableResult
  func apply(_ fill: (inout Draft) throws -> Void) throws -> UInt64 { try apply { draft, _ in try fill(&draft) } }
}
