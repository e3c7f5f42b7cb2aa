import CoreData

/// The changes to rows and entries that follow from the objects of a save or of a batch request.
struct SavedRows {
  private let objects: [SavedObject]
  private let access: RowAccess
  private let indexes: DeclaredIndexes

  /// - Parameter objects: The objects in the order of their references, with their rows after the save.
  init(_ objects: [SavedObject], _ access: RowAccess, _ indexes: DeclaredIndexes) {
    (self.objects, self.access, self.indexes) = (objects, access, indexes)
  }

  /// - Parameter throwConflicts: Throws the conflicts for the objects that the save would contradict, if there are any.
  /// - Throws: `KeyConflicts` if two objects would have the same key; 133000 for contradictions that are no conflicts.
  func changes(
    _ snapshot: any RowSnapshot, throwConflicts: (_ contradicted: Set<ObjectReference>) throws -> Void
  ) throws -> RowChanges {
    var entries = EntryChanges()
    if hasRelationships {
      var relationships = RelationshipChanges(access, snapshot, objects)
      try relationships.collect(into: &entries)
      try check(relationships.contradicted, throwConflicts)
    }
    let withKeys = objects.filter { !$0.map.constraints.isEmpty && !$0.keepsContents }
    var keys = KeyChanges(access, snapshot, capacity: withKeys.count)
    for object in withKeys { try keys.collect(object, into: &entries) }
    try keys.check()
    try collectIndexed(into: &entries)
    var changes = RowChanges()
    changes.rows = objects.map { object in
      RowChanges.Row(
        table: object.reference.entity, reference: object.reference.reference, change: object.rowChange,
        revision: object.stored?.revision)
    }
    (changes.removals, changes.additions) = entries.sorted
    return changes
  }

  /// Whether an object may be at an end of a relationship.
  private var hasRelationships: Bool {
    !access.schema.setsWithoutInverse.isEmpty || objects.contains { $0.map.hasRelationships }
  }

  private func check(_ contradicted: Set<ObjectReference>, _ throwConflicts: (Set<ObjectReference>) throws -> Void)
    throws
  {
    guard !contradicted.isEmpty else { return }
    try throwConflicts(contradicted)
    throw StoreFailure.make(
      NSManagedObjectReferentialIntegrityError,
      "The save would contradict relationships of objects that somebody else has changed: \(contradicted.count).")
  }

  private func collectIndexed(into entries: inout EntryChanges) throws {
    for saved in objects where !saved.keepsContents {
      try StoreFailure.reading("The row of \(access.name(saved.reference))") {
        let (old, new) = try indexes.changes(of: saved.reference, from: saved.stored?.bytes, to: saved.bytes)
        for entry in old { entries.remove(entry) }
        for entry in new { entries.add(entry) }
      }
    }
  }
}
