import Foundation

extension NSManagedObjectContext {
  /// Ends the program if the context cannot be the parent of another.
  func requireParenthood(of child: NSManagedObjectContext) {
    require(
      concurrencyType != .confinementConcurrencyType,
      "\(label) cannot be a parent: its children could not wait for a queue.")
    var ancestor: NSManagedObjectContext? = self
    while let each = ancestor {
      require(each !== child, "\(label) is a descendant of the context that it is to be the parent of.")
      ancestor = each.parent
    }
  }

  /// Runs a block that owns the queues of all ancestors. A thread that takes the store lock and then needs a parent
  /// calls it first, because the parent may be waiting for the store lock.
  func withQueuesOfAncestors<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let parent else { return try body() }
    return try parent.performAndWait { try parent.withQueuesOfAncestors(body) }
  }

  // MARK: Identifiers

  /// The identifiers of objects, for children. Objects that have not been saved get their permanent ones, so that an
  /// object has the same identifier in a context and its children from the beginning.
  func permanentIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
    try obtainPermanentIDs(for: objects)
    return objects.map(\.objectID)
  }

  /// The permanent identifier of an object that an ancestor has inserted; any other identifier itself.
  func idInAncestors(_ id: NSManagedObjectID) -> NSManagedObjectID {
    guard id.isTemporaryID, registry[id] == nil, let parent else { return id }
    return parent.performAndWait {
      guard let object = parent.registry[id] else { return parent.idInAncestors(id) }
      do {
        return try parent.permanentIDs(of: [object]).first ?? id
      } catch {
        fatalError("\(parent.label) could not obtain an identifier for \(id): \(error.localizedDescription)")
      }
    }
  }

  // MARK: Saves

  /// Has the children that merge automatically merge changes, except for one.
  func tellChildren(of changes: SavedIDs, except origin: NSManagedObjectContext? = nil) {
    for child in children.contexts where child !== origin && child.automaticallyMergesChangesFromParent {
      child.mergeLater(changes)
    }
  }

  /// Commits saved objects, and tells all descendants which versions of rows the save has replaced.
  func tellingDescendantsOfVersions(of objects: [NSManagedObject], _ commit: () -> Void) {
    guard !children.contexts.isEmpty else { return commit() }
    let before = objects.map { $0.snapshot?.version ?? 0 }
    commit()
    tellDescendants(
      ofSaved: zip(objects, before).compactMap { object, before in
        guard let after = object.snapshot?.version, before < after else { return nil }
        return (object.objectID, before...after)
      })
  }

  private func tellDescendants(ofSaved saves: [(id: NSManagedObjectID, versions: ClosedRange<UInt64>)]) {
    for child in children.contexts {
      child.sharedRegistry.withLock(\.self).noteSaveByParent(saves)
      child.tellDescendants(ofSaved: saves)
    }
  }
}
