public import Foundation

extension NSManagedObjectContext {
  /// Takes over what another context has saved: objects that are here and no faults get the values of their rows, without losing
  /// changes that are not saved; inserted ones become known; deleted ones count as deleted, and keep their values.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    checkQueue()
    merge(SavedIDs(notification.userInfo ?? [:], persistentStoreCoordinator))
  }

  /// Takes over what somebody else has saved, given as the user info of a notification would be, also with URIs of identifiers. May be
  /// called from anywhere.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    for context in contexts {
      let changes = SavedIDs(changeNotificationData, context.persistentStoreCoordinator)
      context.performAndWait { context.merge(changes) }
    }
  }

  /// Merges on the context's own queue, later.
  func mergeLater(_ changes: SavedIDs) {
    perform { [weak self] in self?.merge(changes) }
  }

  private func merge(_ changes: SavedIDs) {
    for id in changes.inserted { pending.event.inserted.append(object(with: id)) }
    for id in changes.deleted {
      guard let object = registry[id], !object.isDeleted else { continue }
      releaseRelated(object)
      pending.forget(object)
      object.state.insert(.deleted)
      if !object.isFault { pending.event.deleted.append(object) }
    }
    for id in changes.updated {
      guard let object = registry[id], !object.isFault, !object.isDeleted else { continue }
      // A row that is gone since is told of as deleted next.
      if (try? object.refresh(self)) != nil { pending.event.refreshed.append(object) }
    }
    processPendingChanges()
    NotificationCenter.default.post(
      name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: changes.userInfo)
  }

  /// Lets the delete rules act on what was related here to an object that somebody else has deleted. What is in the store they have
  /// dealt with there.
  private func releaseRelated(_ object: NSManagedObject) {
    for place in object.layout.relationships where object.hasChanged(at: place) {
      guard let relationship = object.layout.slots[place].relationship else { continue }
      let related: [NSManagedObject] =
        switch object.values[place] {
        case .object(let other): [other]
        case .members(let members): members.added.elements
        default: []
        }
      for other in related where other.registry === registry && !other.isDeleted {
        if relationship.deleteRule == .cascadeDeleteRule {
          delete(other)
        } else if let inverse = relationship.inverseRelationship {
          other.dropInverse(object, inverse)
        }
      }
    }
  }
}
