/// What delete rules have to know.
extension NSManagedObjectContext {
  /// How many deleted objects are read together.
  static let objectsReadTogether = 1000

  /// Reads what the delete rules of deleted objects need, of all of them together: their rows, and the members of their
  /// to-many relationships. What cannot be read stays unread, and is read again for the object that needs it, which then
  /// gets the error.
  func readForDeleteRules(_ objects: ArraySlice<NSManagedObject>) {
    guard objects.count > 1, parent == nil, let coordinator = persistentStoreCoordinator else { return }
    let stored = objects.filter { $0.isDeleted && !$0.objectID.isTemporaryID }
    let groups = Dictionary(grouping: stored, by: { ObjectIdentifier($0.layout) })
    // In a fixed order, since the objects are awoken: that of the first object of each entity.
    for first in stored {
      let layout = first.layout
      guard let objects = groups[ObjectIdentifier(layout)], objects[0] === first,
        layout.relationships.contains(where: layout.hasDeleteRule)
      else { continue }
      try? realise(together: objects)
      for place in layout.toManys where layout.hasDeleteRule(at: place) {
        readMembers(at: place, of: objects, coordinator)
      }
    }
  }

  private func readMembers(
    at place: Int, of objects: [NSManagedObject], _ coordinator: NSPersistentStoreCoordinator
  ) {
    let unread = objects.filter { $0.isDeleted && $0.hasUnreadMembers(at: place) }
    guard unread.count > 1, let relationship = unread[0].layout.slots[place].relationship,
      let answers = try? coordinator.members(of: relationship, of: unread.map(\.objectID), self)
    else { return }
    registeringTogether {
      for (object, ids) in zip(unread, answers) {
        guard let ids else { continue }
        object.relatedObjectsSoFar(at: place).fire(members(of: relationship, with: ids))
      }
    }
  }
}

extension EntityLayout {
  /// Whether the delete rule of a relationship changes the objects at the other end.
  fileprivate func hasDeleteRule(at place: Int) -> Bool {
    guard let relationship = slots[place].relationship else { return false }
    return switch relationship.deleteRule {
    case .cascadeDeleteRule: true
    case .nullifyDeleteRule: relationship.inverseRelationship != nil
    case .denyDeleteRule, .noActionDeleteRule: false
    }
  }
}

extension NSManagedObject {
  /// Whether the members of a to-many relationship are still to be read from the store, and can be.
  fileprivate final func hasUnreadMembers(at place: Int) -> Bool {
    guard !isFault, !isInaccessible, !values.isEmpty else { return false }
    return switch values[place] {
    case .fault: true
    case .members(let members): members.isFault
    default: false
    }
  }
}
