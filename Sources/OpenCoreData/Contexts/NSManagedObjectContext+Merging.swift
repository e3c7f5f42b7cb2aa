public import Foundation

extension NSManagedObjectContext {
  /// Merges changes that another context has saved. Registered objects that are not faults take the values of their
  /// rows and keep their unsaved changes; inserted objects are registered; deleted objects count as deleted and keep
  /// their values, unless their rows exist again.
  ///
  /// If the other context has another coordinator, stores that cache rows read the rows of the named objects again; see
  /// ``RowCachingStore``. The context retains the inserted objects until its next merge or reset.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    checkQueue()
    let changes = SavedIDs(notification.userInfo ?? [:], persistentStoreCoordinator)
    let coordinator = (notification.object as? NSManagedObjectContext)?.persistentStoreCoordinator
    if coordinator !== persistentStoreCoordinator { tellOfStaleRows(changes) }
    merge(changes)
  }

  /// Merges changes that somebody else has saved, given in the form of a notification's user info, which may also
  /// contain URIs of identifiers. Stores that cache rows read the rows of the named objects again. May be called from
  /// any thread.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    for context in contexts {
      let changes = SavedIDs(changeNotificationData, context.persistentStoreCoordinator)
      context.performAndWait {
        context.tellOfStaleRows(changes)
        context.merge(changes)
      }
    }
  }

  /// Merges later, on the context's own queue.
  func mergeLater(_ changes: SavedIDs) {
    perform { [weak self] in self?.merge(changes) }
  }

  /// Tells the stores that somebody else has saved objects.
  private func tellOfStaleRows(_ changes: SavedIDs) {
    persistentStoreCoordinator?.rowsMayBeStale(changes.inserted + changes.updated + changes.deleted)
  }

  private func merge(_ changes: SavedIDs) {
    pauseUndo()
    defer { resumeUndo() }
    advanceGeneration()
    for id in changes.inserted {
      if let object = registry[id], isGone(object) { revive(object) }
    }
    merged = objects(with: changes.inserted)
    for object in merged { pending.event.noteInsertion(of: object) }
    // A batch request that inserts objects changes those that have their unique values.
    var updated = changes.updated + changes.inserted.filter { registry[$0].map(isOutdated) == true }
    var deleted: [NSManagedObject] = []
    for id in changes.deleted {
      guard let object = registry[id] else { continue }
      guard !object.isDeleted else {
        // An undo does not bring the object back.
        if object.state.change == .deleted, (try? node(for: id)) == nil { object.note(isGone: true) }
        continue
      }
      guard (try? node(for: id)) == nil else {
        // The row was inserted again after the deletion.
        updated.append(id)
        continue
      }
      lose(object)
      deleted.append(object)
      if !object.isFault { pending.event.noteDeletion(of: object) }
    }
    dropFromOwners(deleted)
    for id in updated {
      guard let object = registry[id], !object.isFault else { continue }
      guard !object.isDeleted else {
        if object.state.change == .deleted { object.note(isOutdated: true) }
        continue
      }
      // If the row has been deleted since, the next merge reports the object as deleted.
      if (try? object.refresh(self)) != nil { pending.event.noteRefresh(of: object) }
    }
    processPendingChanges()
    NotificationCenter.default.post(
      name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: changes.userInfo)
    tellChildren(of: changes)
  }

  /// Has an object that is no longer deleted take the change of its row that was merged while it was.
  func mergeMissedChange(of object: NSManagedObject) {
    guard object.state.marks.contains(.outdated) else { return }
    object.note(isOutdated: false)
    guard !object.isInserted, !object.isFault else { return }
    pauseUndo()
    defer { resumeUndo() }
    if (try? object.refresh(self)) != nil { pending.event.noteRefresh(of: object) }
  }

  /// Counts an object as deleted, because somebody else has deleted its row.
  func lose(_ object: NSManagedObject) {
    releaseRelated(object)
    pending.delete(lost: object)
    departed.append(object)
  }

  /// Whether the row of an object has changed since the object has read it.
  private func isOutdated(_ object: NSManagedObject) -> Bool {
    guard !object.isFault, !object.isDeleted, let snapshot = object.snapshot, let node = try? node(for: object.objectID)
    else { return false }
    return snapshot.isOutdated(by: node)
  }

  /// Applies the delete rules of an object that somebody else has deleted to the objects that unsaved changes have
  /// related to it here. To the related objects in the store, the other save has already applied them.
  private func releaseRelated(_ object: NSManagedObject) {
    for place in object.layout.relationships where !object.values.isEmpty {
      guard let relationship = object.layout.slots[place].relationship else { continue }
      let isChanged = object.hasChanged(at: place)
      let (related, added): ([NSManagedObject], ObjectList?) =
        switch object.values[place] {
        case .object(let other): ([other], nil)
        case .members(let members): (members.elements, members.added)
        default: ([], nil)
        }
      for other in related where other.registry === registry && !other.isDeleted {
        let isNew = isChanged && added?.contains(other) ?? true
        if isNew, relationship.deleteRule == .cascadeDeleteRule {
          delete(other)
        } else if let inverse = relationship.inverseRelationship, isNew || other.refersAnew(to: object, inverse) {
          other.dropInverse(object, inverse)
        }
      }
    }
  }
}

extension NSManagedObject {
  /// Whether an unsaved change has this object refer to another one. It may be saved already by somebody else, so that
  /// the other end has no change.
  fileprivate final func refersAnew(to other: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
    guard !values.isEmpty, let place = layout.place(of: relationship.name), hasChanged(at: place) else { return false }
    return switch values[place] {
    case .object(let related): related === other
    case .members(let members): members.hasAdded(other)
    default: false
    }
  }
}
