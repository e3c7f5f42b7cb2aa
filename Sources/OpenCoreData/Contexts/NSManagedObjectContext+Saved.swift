import Foundation

/// The end of a save.
extension NSManagedObjectContext {
  /// Updates the context and its objects after a save, and notifies others of the save.
  ///
  /// - Parameters:
  ///   - replaced: the updated objects that the stores were asked to save.
  ///   - revision: the number of the save, if there was one store and it numbers its saves.
  ///   - token: the place of the save in the history of the stores; nil if they record none.
  ///   - stores: the stores that have saved; nil for all.
  func finish(
    _ coordinator: NSPersistentStoreCoordinator, _ replaced: ObjectList, _ revision: UInt64?,
    _ token: NSPersistentHistoryToken?, in stores: [NSPersistentStore]? = nil
  ) {
    isSaving = false
    let saved = pending.selection(stores.map { stores in { coordinator.isObject($0, ofOneOf: stores) } })
    let all = SavedObjects(
      inserted: saved.inserted, updated: saved.updated,
      deleted: saved.deleted.filter { !$0.state.marks.contains(.gone) })
    if parent == nil {
      tellingDescendantsOfVersions(of: saved.inserted + saved.updated + saved.locked) {
        commit(saved, replaced, revision)
      }
    } else {
      commitToParent(saved, replaced)
    }
    coordinator.didRegister(all.inserted.filter { !$0.state.marks.contains(.reinserted) }.map(\.objectID))
    pending.saved(saved)
    for object in saved.deleted {
      registry.remove(object.objectID)
      retained.remove(object)
      object.registry = nil
      departed.append(object)
    }
    defer { separateDeparted() }
    coordinator.didUnregister(saved.deleted.map(\.objectID))
    let ids = all.ids
    for objects in [all.inserted, all.updated, all.deleted] {
      for object in objects { object.didSave() }
    }
    // The key that Apple's notifications have, for which Core Data has no constant.
    let token = token.map { ["newChangeToken": $0 as Any] } ?? [:]
    NotificationCenter.default.post(
      name: Self.didSaveObjectsNotification, object: self, userInfo: all.userInfo.merging(token) { $1 })
    NotificationCenter.default.post(
      name: Self.didSaveObjectIDsNotification, object: self, userInfo: ids.userInfo.merging(token) { $1 })
    guard !ids.isEmpty else { return }
    tellChildren(of: ids)
    if let parent { return parent.tellChildren(of: ids, except: self) }
    for context in coordinator.contexts where context !== self && context.automaticallyMergesChangesFromParent {
      context.mergeLater(ids)
    }
  }

  /// Makes the values of objects that the parent has taken the committed ones. Their rows keep their versions.
  private func commitToParent(_ saved: PendingChanges.Selection, _ replaced: ObjectList) {
    for object in saved.inserted {
      assignedStores[ObjectIdentifier(object)] = nil
      object.commitToParent()
    }
    for object in saved.updated {
      if replaced.contains(object) { object.commitToParent() } else { object.commitTransients() }
    }
  }

  /// Makes the values of saved objects the committed ones.
  private func commit(
    _ saved: PendingChanges.Selection, _ replaced: ObjectList, _ revision: UInt64?
  ) {
    let unchanged = saved.locked.filter { !$0.isDeleted && (!$0.hasChanges || !$0.hasPersistentChangedValues) }
    for object in saved.inserted {
      assignedStores[ObjectIdentifier(object)] = nil
      // Only the store knows how it counts the versions of a row that is inserted again.
      let version = object.state.marks.contains(.reinserted) ? (try? node(for: object.objectID))?.version : nil
      object.commit(version: version ?? 1, revision, before: 0)
    }
    for object in saved.updated {
      if replaced.contains(object) {
        object.commit(version: object.snapshot.map { $0.version + 1 }, revision, before: object.snapshot?.version)
      } else {
        object.commitTransients()
      }
    }
    for object in unchanged {
      guard let snapshot = object.snapshot else { continue }
      object.commit(version: snapshot.version + 1, revision, before: snapshot.version)
    }
  }
}

/// The objects that a context has saved.
private struct SavedObjects {
  let inserted: [NSManagedObject]
  let updated: [NSManagedObject]
  let deleted: [NSManagedObject]

  var userInfo: [AnyHashable: Any] {
    [
      NSInsertedObjectsKey: Set(inserted), NSUpdatedObjectsKey: Set(updated), NSDeletedObjectsKey: Set(deleted),
    ]
  }

  var ids: SavedIDs {
    SavedIDs(
      inserted: inserted.map(\.objectID), updated: updated.map(\.objectID), deleted: deleted.map(\.objectID))
  }
}
