import Foundation

/// The save of a child: its changes become unsaved changes of its parent.
extension NSManagedObjectContext {
  /// Pushes all changes to the parent, or none. What others have changed in the parent meanwhile is no conflict, unless
  /// they have deleted an object that is changed here: the merge policy resolves that.
  func push(to parent: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws {
    var attempts = SaveAttempts()
    while true {
      do {
        let replaced = try parent.performAndWait {
          let waiting = pending.objects + pending.locked.filter { !$0.hasChanges }
          let conflicts = try ConflictCheck.conflicts(waiting.filter(\.isChecked), self)
          guard conflicts.isEmpty else { throw ConflictCheck.error(conflicts) }
          let changes = PushedChanges(pending)
          try parent.absorb(changes, from: registry)
          return ObjectList(changes.updated)
        }
        finish(coordinator, replaced, nil, nil)
        return
      } catch {
        try settle(error, &attempts, coordinator)
      }
    }
  }
}

/// The changes that a child pushes to its parent: objects of the child.
struct PushedChanges {
  let inserted: [NSManagedObject]
  let updated: [NSManagedObject]
  let deleted: [NSManagedObject]
  let locked: [NSManagedObject]

  init(_ pending: PendingChanges) {
    inserted = pending.inserted.elements
    updated = pending.updated.filter(\.hasPersistentChangedValues)
    deleted = pending.deleted.filter { !$0.state.marks.contains(.gone) }
    locked = pending.locked.filter { !$0.isInserted && !$0.isDeleted }
  }

  var written: [NSManagedObject] { inserted + updated }
}
