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
    derive()
    try send(coordinator)
    finish(coordinator)
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
      waiting = ObjectList(event.inserted.elements + event.changed.elements + event.deleted.elements).elements
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
    check(pending.updated) { if !$0.isFault { try $0.validateForUpdate() } }
    check(pending.deleted) { try $0.validateForDelete() }
    if let error = ValidationErrors.combined(errors) { throw error }
  }

  /// Computes the derived attributes of what is saved.
  private func derive() {
    for object in pending.inserted.elements + pending.updated.elements {
      for (place, slot) in object.layout.slots.enumerated() {
        guard let derived = slot.attribute as? NSDerivedAttributeDescription,
          let expression = derived.derivationExpression
        else { continue }
        object.fireFault(slot.name)
        let value = PredicateValue(expression.expressionValue(with: object, context: nil))
        object.values[place] = ManagedValue(derived.attributeType.convert(value).anyValue, of: derived)
      }
    }
  }

  // MARK: Stores

  private func send(_ coordinator: NSPersistentStoreCoordinator) throws {
    for attempt in 1... {
      do {
        try coordinator.withStoreLock {
          let conflicts = try ConflictCheck.conflicts(
            pending.updated.elements.filter(\.hasPersistentChangedValues) + pending.deleted.elements
              + lockedObjects.elements, self)
          guard conflicts.isEmpty else { throw ConflictCheck.error(conflicts) }
          for (store, request) in try requests(coordinator) { try coordinator.save(request, in: store, self) }
        }
        return
      } catch {
        guard let conflicts = ConflictCheck.conflicts(in: error), attempt < Self.attempts else { throw error }
        try (mergePolicy as? NSMergePolicy ?? .error).resolve(mergeConflicts: conflicts)
      }
    }
  }

  /// What each store is to save. If nothing has changed, each is told so.
  private func requests(
    _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [(store: NSPersistentStore, request: NSSaveChangesRequest)] {
    struct Changes {
      var inserted: Set<NSManagedObject> = []
      var updated: Set<NSManagedObject> = []
      var deleted: Set<NSManagedObject> = []
      var locked: Set<NSManagedObject> = []
    }
    var changes: [ObjectIdentifier: Changes] = [:]
    func add(_ objects: ObjectList, to set: WritableKeyPath<Changes, Set<NSManagedObject>>) throws {
      for object in objects.elements {
        guard let store = object.objectID.persistentStore else { throw StoreCalls.missing(object.objectID) }
        try checkStores(of: object, store)
        changes[ObjectIdentifier(store), default: Changes()][keyPath: set].insert(object)
      }
    }
    try add(pending.inserted, to: \.inserted)
    try add(ObjectList(pending.updated.elements.filter(\.hasPersistentChangedValues)), to: \.updated)
    try add(pending.deleted, to: \.deleted)
    try add(ObjectList(lockedObjects.elements.filter { !$0.hasChanges }), to: \.locked)
    return coordinator.persistentStores.compactMap { store in
      guard let own = changes[ObjectIdentifier(store)] ?? (changes.isEmpty ? Changes() : nil) else { return nil }
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

  private func finish(_ coordinator: NSPersistentStoreCoordinator) {
    let saved = SavedObjects(
      inserted: pending.inserted.elements, updated: pending.updated.elements, deleted: pending.deleted.elements)
    let locked = lockedObjects
    pending.inserted.removeAll()
    pending.updated.removeAll()
    pending.deleted.removeAll()
    lockedObjects.removeAll()
    for object in saved.inserted {
      assignedStores[ObjectIdentifier(object)] = nil
      object.commit(version: 1, before: 0)
    }
    for object in saved.updated {
      let isCounted = object.hasPersistentChangedValues
      object.commit(version: object.snapshot.map { $0.version + (isCounted ? 1 : 0) }, before: object.snapshot?.version)
    }
    for object in locked.elements where !object.isDeleted {
      object.state.remove(.locked)
      guard let snapshot = object.snapshot, !saved.updated.contains(where: { $0 === object }) else { continue }
      object.commit(version: snapshot.version + 1, before: snapshot.version)
    }
    coordinator.didRegister(saved.inserted.map(\.objectID))
    for object in saved.deleted {
      object.state.subtract([.deleted, .updated, .locked])
      registry.remove(object.objectID)
      retained.remove(object)
      object.registration = nil
    }
    coordinator.didUnregister(saved.deleted.map(\.objectID))
    for object in saved.all { object.didSave() }
    NotificationCenter.default.post(
      name: Self.didSaveObjectsNotification, object: self, userInfo: saved.userInfo)
    NotificationCenter.default.post(
      name: Self.didSaveObjectIDsNotification, object: self, userInfo: saved.ids.userInfo)
    guard !saved.all.isEmpty else { return }
    for context in coordinator.contexts where context !== self && context.automaticallyMergesChangesFromParent {
      context.mergeLater(saved.ids)
    }
  }
}

extension NSManagedObject {
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
