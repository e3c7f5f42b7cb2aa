import Foundation

extension NSManagedObjectContext {
  /// How often a save is tried again after its conflicts were resolved.
  private static let attempts = 10
  /// How often `willSave()` may change objects.
  private static let rounds = 1000

  func saveChanges() throws {
    guard let coordinator = persistentStoreCoordinator else {
      throw CoreDataError.make(NSPersistentStoreOperationError, "\(label) has no coordinator to save to.")
    }
    processPendingChanges()
    NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self)
    callWillSave()
    try validate()
    try obtainPermanentIDs(for: pending.inserted.elements)
    derive(pending.inserted.elements + pending.updated.elements)
    try send(coordinator)
  }

  /// Until no object changes another any more.
  private func callWillSave() {
    processPendingChanges()
    var waiting = pending.objects
    for _ in 0..<Self.rounds {
      guard !waiting.isEmpty else { return }
      for object in waiting { object.willSave() }
      propagateDeletions()
      let event = pending.event
      waiting = ObjectList(event.inserted.elements + event.changed + event.deleted.elements).elements
        .filter(\.hasChanges)
      processPendingChanges()
    }
    preconditionFailure(
      "\(label): willSave() has changed objects \(Self.rounds) times. Change a value only if it differs.")
  }

  private func validate() throws {
    var errors: [NSError] = []
    func check(_ objects: ObjectList, _ validate: (NSManagedObject) throws -> Void) {
      for object in objects.elements where !object.state.contains(.inaccessible) {
        do { try validate(object) } catch { errors.append(error as NSError) }
      }
    }
    check(pending.inserted) { try $0.validateForInsert() }
    check(pending.updated) { object in
      if object.isFault {
        guard object.hasBoundedChange else { return }
        // That its row is gone is a conflict, which the stores are asked about next.
        do {
          try object.realise(self)
        } catch {
          if StoreCalls.isMissing(error) { return }
          throw error
        }
      }
      try object.validateForUpdate()
    }
    check(pending.deleted) { try $0.validateForDelete() }
    for object in pending.inserted.elements + pending.updated.elements { errors += danglingReferences(of: object) }
    if let error = ValidationErrors.combined(errors) { throw error }
  }

  /// Relationships to objects that are in no context, or not in this one, and so are not saved.
  private func danglingReferences(of object: NSManagedObject) -> [NSError] {
    zip(object.layout.slots, object.values).compactMap { slot, value in
      let dangles =
        switch value {
        case .object(let object): isDangling(object)
        case .members(let members) where !members.added.isEmpty: members.added.elements.contains(where: isDangling)
        default: false
        }
      guard dangles else { return nil }
      return CoreDataError.make(
        NSManagedObjectValidationError,
        "\(object.entity.name ?? "").\(slot.name) refers to an object that was never inserted, or deleted before it was saved.",
        [NSValidationKeyErrorKey: slot.name, NSValidationObjectErrorKey: object])
    }
  }

  private func isDangling(_ object: NSManagedObject) -> Bool {
    object.registration !== registration && object.objectID.isTemporaryID
  }

  /// Computes the derived attributes of what is going to be saved.
  private func derive(_ objects: [NSManagedObject]) {
    for object in objects {
      for (place, derived) in object.layout.derived {
        guard let expression = derived.derivationExpression else { continue }
        object.fireFault(derived.name)
        let value = PredicateValue(expression.expressionValue(with: object, context: nil))
        object.values[place] = ManagedValue(derived.attributeType.convert(value).anyValue, of: derived)
      }
    }
  }

  // MARK: Stores

  /// Has each store save what is its own, and notes what was saved. What a store has saved stays saved, also where
  /// another one fails then.
  private func send(_ coordinator: NSPersistentStoreCoordinator) throws {
    var saved: [NSPersistentStore] = []
    // A store that asks for values may find out that there was nothing to change; it was asked to save the object all the same.
    var replaced = ObjectList()
    for attempt in 1... {
      let waiting = ObjectList(
        (pending.objects + lockedObjects.elements).filter { object in
          !saved.contains { $0 === object.objectID.persistentStore }
        })
      do {
        try coordinator.withStoreLock {
          let conflicts = try ConflictCheck.conflicts(waiting.elements.filter(\.isChecked), self)
          guard conflicts.isEmpty else { throw ConflictCheck.error(conflicts) }
          for (store, request) in try requests(waiting, coordinator) where !saved.contains(where: { $0 === store }) {
            let updated = ObjectList(request.updatedObjects ?? [])
            try coordinator.save(request, in: store, self)
            saved.append(store)
            for object in updated.elements { replaced.append(object) }
          }
        }
        finish(coordinator, replaced)
        return
      } catch {
        do {
          guard let conflicts = ConflictCheck.conflicts(in: error), attempt < Self.attempts else { throw error }
          try (mergePolicy as? NSMergePolicy ?? .error).resolve(mergeConflicts: conflicts)
          // What was taken from the store may refer to what is deleted here.
          pending.propagating += pending.deleted.elements
          propagateDeletions()
          if conflicts.contains(where: { $0 is NSConstraintConflict }) {
            // Objects may have got the values of others.
            try validate()
            derive(
              (pending.inserted.elements + pending.updated.elements).filter { object in
                !saved.contains { $0 === object.objectID.persistentStore }
              })
          } else {
            for object in pending.deleted.elements { try object.validateForDelete() }
          }
        } catch {
          if !saved.isEmpty { finish(coordinator, replaced, in: saved) }
          throw error
        }
      }
    }
  }

  /// What each store is to save. If nothing has changed, each is told so.
  private func requests(
    _ objects: ObjectList, _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [(store: NSPersistentStore, request: NSSaveChangesRequest)] {
    struct Changes {
      var inserted: Set<NSManagedObject> = []
      var updated: Set<NSManagedObject> = []
      var deleted: Set<NSManagedObject> = []
      var locked: Set<NSManagedObject> = []
    }
    var changes: [ObjectIdentifier: Changes] = [:]
    for object in objects.elements where !object.state.contains(.gone) {
      let set: WritableKeyPath<Changes, Set<NSManagedObject>>
      if object.isInserted {
        set = \.inserted
      } else if object.isDeleted {
        set = \.deleted
      } else if object.hasPersistentChangedValues {
        set = \.updated
      } else if object.state.contains(.locked) {
        set = \.locked
      } else {
        continue
      }
      guard let store = object.objectID.persistentStore else { throw StoreCalls.missing(object.objectID) }
      try checkStores(of: object, store)
      changes[ObjectIdentifier(store), default: Changes()][keyPath: set].insert(object)
    }
    return coordinator.persistentStores.compactMap { store in
      guard let own = changes[ObjectIdentifier(store)] ?? (changes.isEmpty ? Changes() : nil) else {
        return nil
      }
      return (
        store,
        NSSaveChangesRequest(inserted: own.inserted, updated: own.updated, deleted: own.deleted, locked: own.locked)
      )
    }
  }

  /// Objects refer to objects of their own store only.
  private func checkStores(of object: NSManagedObject, _ store: NSPersistentStore) throws {
    guard let coordinator = persistentStoreCoordinator, coordinator.persistentStores.count > 1, !object.values.isEmpty
    else { return }
    for (slot, value) in zip(object.layout.slots, object.values) {
      let related: [NSManagedObjectID] =
        switch value {
        case .members(let members): members.added.elements.map(\.objectID)
        default: value.objectID.map { [$0] } ?? []
        }
      guard let other = related.first(where: { $0.persistentStore !== store }) else { continue }
      throw CoreDataError.make(
        NSManagedObjectExternalRelationshipError,
        "\(object.entity.name ?? "").\(slot.name) refers to an object of another store, \(other).",
        [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: slot.name])
    }
  }

  // MARK: Afterwards

  /// The context knows what it has saved.
  ///
  /// - Parameters:
  ///   - replaced: the objects whose rows there were before.
  ///   - stores: those that have saved; nil for all.
  private func finish(
    _ coordinator: NSPersistentStoreCoordinator, _ replaced: ObjectList, in stores: [NSPersistentStore]? = nil
  ) {
    func saved(_ objects: ObjectList) -> [NSManagedObject] {
      objects.elements.filter { object in stores?.contains { $0 === object.objectID.persistentStore } ?? true }
    }
    let deleted = saved(pending.deleted)
    let all = SavedObjects(
      inserted: saved(pending.inserted), updated: saved(pending.updated),
      deleted: deleted.filter { !$0.state.contains(.gone) })
    let locked = saved(lockedObjects).filter { !$0.hasChanges || !$0.hasPersistentChangedValues }
    for object in all.inserted {
      pending.inserted.remove(object)
      assignedStores[ObjectIdentifier(object)] = nil
      object.commit(version: 1, before: 0)
    }
    for object in all.updated {
      pending.updated.remove(object)
      if replaced.contains(object) {
        object.commit(version: object.snapshot.map { $0.version + 1 }, before: object.snapshot?.version)
      } else {
        object.state.remove(.updated)
      }
    }
    for object in locked where !object.isDeleted {
      if let snapshot = object.snapshot { object.commit(version: snapshot.version + 1, before: snapshot.version) }
    }
    for object in saved(lockedObjects) {
      lockedObjects.remove(object)
      object.state.remove(.locked)
    }
    coordinator.didRegister(all.inserted.filter { !$0.state.contains(.reinserted) }.map(\.objectID))
    for object in all.inserted { object.state.remove(.reinserted) }
    for object in deleted {
      pending.forget(object)
      registry.remove(object.objectID)
      retained.remove(object)
      object.registration = nil
    }
    coordinator.didUnregister(deleted.map(\.objectID))
    for object in all.all { object.didSave() }
    NotificationCenter.default.post(
      name: Self.didSaveObjectsNotification, object: self, userInfo: all.userInfo)
    NotificationCenter.default.post(
      name: Self.didSaveObjectIDsNotification, object: self, userInfo: all.ids.userInfo)
    guard !all.all.isEmpty else { return }
    for context in coordinator.contexts where context !== self && context.automaticallyMergesChangesFromParent {
      context.mergeLater(all.ids)
    }
  }
}

extension NSManagedObject {
  /// Whether the next save compares its version.
  fileprivate final var isChecked: Bool {
    !isInserted && (isDeleted || state.contains(.locked) || hasPersistentChangedValues)
  }

  /// Whether a relationship that must have some number of objects was changed from the other end.
  fileprivate final var hasBoundedChange: Bool {
    layout.slots.indices.contains { place in
      if case .toMany(let relationship) = layout.slots[place].kind {
        !relationship.isUnbounded && hasChanged(at: place)
      } else {
        false
      }
    }
  }

  /// What it has is in the store now, as a row of a version; nil for an object whose row was never read.
  fileprivate final func commit(version: UInt64?, before: UInt64?) {
    state.subtract([.inserted, .updated, .locked])
    for case .members(let members) in values { members.commit() }
    guard let version else {
      values = []
      return
    }
    let layout = layout
    var committed = layout.blank
    for (place, slot) in layout.slots.enumerated() where slot.isInSnapshot {
      committed[place] = values[place].objectID.map { .reference($0) } ?? values[place]
    }
    snapshot = RowSnapshot(values: committed, version: version, versionBeforeSave: before)
  }
}

/// What a context has saved.
private struct SavedObjects {
  let inserted: [NSManagedObject]
  let updated: [NSManagedObject]
  let deleted: [NSManagedObject]

  var all: [NSManagedObject] { inserted + updated + deleted }

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
