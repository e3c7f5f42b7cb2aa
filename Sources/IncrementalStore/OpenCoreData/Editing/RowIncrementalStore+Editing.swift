package import OpenCoreData

/// A change to the row of an object that no context has made.
package struct RowEdit {
  package let object: ObjectReference
  /// The bytes of the row; nil to delete the object.
  package var bytes: [UInt8]?
  /// What happens to the members of to-many relationships whose other end does not tell it, by their numbers.
  package var members: [UInt32: SavedObject.MemberChange] = [:]

  /// Whether the version of the row rises even if nothing else changes.
  package var isTouched = false

  package init(_ object: ObjectReference, _ bytes: [UInt8]?) { (self.object, self.bytes) = (object, bytes) }
}

/// What ``RowIncrementalStore/edit(author:recordsHistory:_:)`` writes.
package struct RowEdits {
  /// Each object once.
  package var edits: [ObjectReference: RowEdit] = [:]
  package var additions = RowAdditions()

  package init() {}
}

extension RowIncrementalStore {
  /// Changes rows, and whatever follows from them: entries, indexes, versions, history. The caller holds the store
  /// lock.
  ///
  /// - Parameters:
  ///   - author: The author of the transaction in the history.
  ///   - recordsHistory: Whether there is a transaction in the history. Without one, contexts are not told.
  ///   - plan: Returns the changes. Called again if the attempt fails because rows have changed meanwhile.
  /// - Throws: 133021 if unique values belong to other objects; what `plan` throws.
  package func edit(
    author: String, recordsHistory: Bool = true, _ plan: (any RowSnapshot) throws -> RowEdits
  ) throws {
    var objects: [SavedObject] = []
    var recorder = HistoryRecorder(self, author: author, contextName: nil)
    do {
      _ = try rows.save { snapshot in
        let indexes = try indexes(in: snapshot)
        let edits = try plan(snapshot)
        objects = try edits.edits.values.compactMap { try saved($0, snapshot) }
        objects += try access.touched(by: objects, snapshot)
        objects.sort { $0.reference < $1.reference }
        var changes = try SavedRows(objects, access, indexes).changes(snapshot) { _ in }
        if recordsHistory { try recorder.record(objects, in: &changes, snapshot) }
        try edits.additions.add(to: &changes, snapshot)
        return changes
      }
    } catch let conflicts as KeyConflicts {
      throw try conflicts.error(self, nil)
    }
    if recordsHistory { note(recorder.position) }
    for saved in objects { cache.remove(access.objectID(saved.reference.reference, saved.map)) }
    if recordsHistory, recorder.position != nil { postRemoteChange() }
  }

  /// Nil if nothing changes.
  private func saved(_ edit: RowEdit, _ snapshot: any RowSnapshot) throws -> SavedObject? {
    guard let map = access.schema[edit.object.entity] else {
      throw StoreFailure.damaged("\(edit.object)", RowDamage("the model does not have its entity", at: 0))
    }
    let stored = try snapshot.row(edit.object.reference, in: edit.object.entity)
    if edit.bytes == nil, stored == nil { return nil }
    if edit.bytes == stored?.bytes, edit.members.isEmpty, !edit.isTouched { return nil }
    let change: SavedObject.Change = edit.bytes == nil ? .deleted : stored == nil ? .inserted : .updated
    let saved = SavedObject(nil, change, edit.object, map, stored, memberChanges: edit.members)
    saved.set(edit.bytes)
    return saved
  }
}

extension RowIncrementalStore {
  /// The bytes of an object's row, as the row cache or the database has it; nil if there is none. The caller holds the
  /// store lock.
  package func rowBytes(of objectID: NSManagedObjectID) -> [UInt8]? {
    if let row = cache.row(of: objectID) { return row.bytes }
    guard let reference = try? access.reference(objectID) else { return nil }
    return try? rows.snapshot().row(reference.reference, in: reference.entity)?.bytes
  }

  /// Whether a context uses an object.
  package func isRegistered(_ objectID: NSManagedObjectID) -> Bool { cache.isRegistered(objectID) }
}
