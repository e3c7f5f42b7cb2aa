import Foundation

extension NSManagedObjectContext {
  /// Refreshes an object from its row. If `flag` is true, the object takes the row's values at once and keeps its
  /// unsaved changes. Otherwise it loses its changes and becomes a fault, which reads the row when it fires. What the
  /// deletion of another object has changed stays changed.
  ///
  /// Does nothing for an object that was never saved.
  public func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    checkQueue()
    require(object.registry === registry, "The object \(object.objectID) is in another context.")
    guard !object.isInserted else { return }
    pauseUndo()
    defer { resumeUndo() }
    if flag {
      guard !object.isFault else { return }
      do {
        try object.refresh(self)
      } catch {
        handleInaccessible(object, nil, error)
      }
    } else {
      let deletions = object.isDeleted ? [] : object.relationshipsEndedByDeletions
      for place in object.values.indices { object.takeBackRelationship(at: place) }
      pending.forget(updateOf: object)
      object.turnIntoFault()
      for (relationship, deleted) in deletions { object.dropInverse(deleted, relationship) }
    }
    pending.event.noteRefresh(of: object)
  }

  /// Turns all objects without changes into faults; objects with changes take the new values of their rows and keep
  /// their changes.
  public func refreshAllObjects() {
    checkQueue()
    for object in registry.objects where !object.isFault && !object.isDeleted {
      refresh(object, mergeChanges: object.hasChanges)
    }
  }

  /// Discards all unsaved changes. They cannot be undone or redone.
  public func rollback() {
    checkQueue()
    pauseUndo(forGood: true)
    defer { resumeUndo() }
    // Somebody else has deleted them, too, and nobody has inserted them again.
    let gone = ObjectList(
      pending.deleted.filter { $0.state.marks.contains(.gone) && (try? node(for: $0.objectID)) == nil })
    let changed = pending.updated.elements + pending.deleted.filter { !gone.contains($0) }
    let inserted = pending.inserted.elements
    let annihilated = pending.takePropagating().filter(\.isInserted)
    for object in inserted + annihilated { forget(object) }
    for object in changed { object.takeBack() }
    if !pending.deleted.isEmpty { readMembersOfOwnersAgain() }
    for object in changed { pending.forget(object) }
    for object in pending.locked.elements { pending.unlock(object) }
    for object in changed { mergeMissedChange(of: object) }
    for object in gone.elements { lose(object) }
    dropFromOwners(gone.elements)
    let untold = pending.event.end()
    for object in gone.elements where untold.deleted.contains(object) { pending.event.noteDeletion(of: object) }
    for object in inserted where !untold.inserted.contains(object) { pending.event.noteDeletion(of: object) }
    for object in untold.deleted where object.registry !== registry { pending.event.noteDeletion(of: object) }
    for object in changed { pending.event.noteRefresh(of: object) }
    processPendingChanges()
  }

  /// Removes all objects from the context and discards all changes. Objects that the program still refers to are in no
  /// context afterwards.
  public func reset() {
    checkQueue()
    pauseUndo(forGood: true)
    defer { resumeUndo() }
    forgetFreed()
    let objects = registry.objects
    let (ids, known) = (objects.map(\.objectID), takeRegisteredWithStores())
    let observation = registry.observation
    objectStreams?.finish()
    beginAnew()
    advanceGeneration()
    _ = pending.event.end()
    pending.forgetAll(objects)
    assignedStores = [:]
    retained.removeAll()
    merged = []
    departed.removeAll()
    for object in objects {
      object.turnIntoFault()
      object.forgetValues()
    }
    persistentStoreCoordinator?.didUnregister(known)
    pending.event.noteReset(of: ids)
    processPendingChanges()
    observation.end()
  }

  /// The identifiers that stores were told of and not yet told to forget. Empties the registry's list of freed objects.
  func takeRegisteredWithStores() -> [NSManagedObjectID] {
    let used = registry.objects.lazy
      .filter { !$0.objectID.isTemporaryID && (!$0.isInserted || $0.state.marks.contains(.reinserted)) }
    return registry.takeFreed().filter { !$0.isTemporaryID } + used.map(\.objectID)
  }
}

extension NSManagedObject {
  /// The relationships in which the row still refers to objects whose deletion is not saved yet, and these objects.
  fileprivate final var relationshipsEndedByDeletions: [(NSRelationshipDescription, deleted: NSManagedObject)] {
    guard !values.isEmpty else { return [] }
    return layout.relationships.flatMap { place in
      let relationship = layout.slots[place].relationship
      let rule = relationship?.inverseRelationship?.deleteRule
      guard let relationship, rule == .nullifyDeleteRule || rule == .cascadeDeleteRule, hasChanged(at: place)
      else { return [(NSRelationshipDescription, deleted: NSManagedObject)]() }
      return changedEnds(at: place).left.filter(\.isDeleted).map { (relationship, $0) }
    }
  }

  /// Takes the values of the row again, except for those changed here.
  final func refresh(_ context: NSManagedObjectContext) throws {
    let node = try context.node(for: objectID)
    adopt(try Self.committed(node, layout, objectID, context), keepingChanges: true)
    awake { $0.awake(fromSnapshotEvents: .refresh) }
  }

  /// Makes a row the committed state. Unchanged properties take its values; to-many relationships become faults.
  ///
  /// If `keepingChanges` is true, changed to-many relationships keep their changes, and changed attributes and to-one
  /// relationships keep their values if `keeps` is true for their places. All other changes are lost. Transient values
  /// stay as they are.
  final func adopt(_ new: RowSnapshot, keepingChanges: Bool, where keeps: (Int) -> Bool = { _ in true }) {
    let layout = layout
    for place in self.values.indices
    where keepingChanges && layout.slots[place].isInSnapshot && hasChanged(at: place) && !keeps(place) {
      takeBackRelationship(at: place)
    }
    var values = new.values
    var kept: [Int] = []
    for place in values.indices {
      let slot = layout.slots[place]
      switch slot.kind {
      case .attribute where slot.isTransient, .toOne where slot.isTransient: values[place] = self.values[place]
      case .attribute, .toOne:
        if keepingChanges, hasChanged(at: place), keeps(place) {
          values[place] = self.values[place]
          if let snapshot, !snapshot.values[place].isEqual(new.values[place]) { kept.append(place) }
        } else if case .object = self.values[place], self.values[place].isEqual(values[place]) {
          values[place] = self.values[place]
        }
      case .toMany:
        guard case .members(let members) = self.values[place], keepingChanges, members.hasChanges else { continue }
        values[place] = .members(members.unfired())
      case .fetched: values[place] = .fault
      }
    }
    take(values, snapshot.map { new.replacing(layout.transients, by: $0.values) } ?? new)
    for place in kept where hasChanged(at: place) { keepToOne(at: place, insteadOf: new.values[place]) }
  }

  /// Returns to the committed values.
  fileprivate final func takeBack() {
    guard let snapshot else {
      forgetValues()
      return
    }
    adopt(snapshot, keepingChanges: false)
    becomeAccessible()
    awake { $0.awake(fromSnapshotEvents: .rollback) }
  }
}
