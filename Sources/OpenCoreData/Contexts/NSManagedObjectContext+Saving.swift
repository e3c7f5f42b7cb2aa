import Foundation

extension NSManagedObjectContext {
  /// The number of rounds in which `willSave()` may change objects.
  private static let rounds = 1000

  func saveChanges() throws {
    guard let coordinator = persistentStoreCoordinator else {
      throw CoreDataError.make(NSPersistentStoreOperationError, "\(label) has no coordinator to save to.")
    }
    isSaving = true
    defer {
      isSaving = false
      advanceGeneration()
      checkedEnds.removeAll()
      resumeUndo()
    }
    processPendingChanges()
    pauseUndo()
    NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self)
    callWillSave()
    try propagateAllDeletions()
    try makeEndsAgree(droppingDeleted: false)
    try validate()
    try obtainPermanentIDs(for: pending.inserted.elements)
    if let parent { return try push(to: parent, coordinator) }
    do {
      try derive(pending.written)
      try send(coordinator)
      ownersByDerivation = ObjectList()
    } catch {
      takeBackDerivations()
      throw error
    }
  }

  /// Calls `willSave()` of the changed objects until no call changes an object any more.
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
    fatalError(
      "\(label): willSave() has changed objects \(Self.rounds) times. Change a value only if it differs.")
  }

  private func validate() throws {
    guard validatesSaves else { return }
    var errors: [NSError] = []
    func check(_ objects: ObjectList, _ validate: (NSManagedObject) throws -> Void) {
      for object in objects where !object.isInaccessible {
        do { try validate(object) } catch { errors.append(error as NSError) }
      }
    }
    check(pending.inserted) { try $0.validateForInsert() }
    check(pending.updated) { object in
      if object.isFault {
        guard object.hasBoundedChange, try hasRow(object) else { return }
      }
      try object.validateForUpdate()
    }
    var staying: Set<NSManagedObject> = []
    check(pending.deleted) { object in
      do {
        try object.validateForDelete()
      } catch {
        staying.insert(object)
        throw error
      }
    }
    for object in pending.written where !object.values.isEmpty {
      try noteDanglingReferences(of: object, besides: staying, in: &errors)
    }
    if let error = ValidationErrors.combined(errors) { throw error }
  }

  /// Adds errors for relationships that were set to objects which are not in this context, and so are not saved, or
  /// which are deleted. Objects in `staying`, whose deletion was refused, do not count as deleted.
  private func noteDanglingReferences(
    of object: NSManagedObject, besides staying: Set<NSManagedObject>, in errors: inout [NSError]
  ) throws {
    func isDangling(_ other: NSManagedObject) -> Bool {
      other.registry !== registry || other.isDeleted && !staying.contains(other)
    }
    let (layout, values) = (object.layout, object.values)
    for place in layout.relationships {
      let dangles =
        switch values[place] {
        case .object(let other): isDangling(other) && object.hasChanged(at: place)
        case .members(let members) where members.added.contains(where: isDangling):
          try isAdded(to: members, of: object, at: place, isDangling)
        default: false
        }
      guard dangles, !layout.slots[place].isTransient else { continue }
      let name = layout.slots[place].name
      errors.append(
        CoreDataError.make(
          NSManagedObjectValidationError,
          "\(object.entity.name ?? "").\(name) refers to an object that was never inserted, or that is deleted.",
          [NSValidationKeyErrorKey: name, NSValidationObjectErrorKey: object]))
    }
  }

  /// Whether an object has been added to a relationship. If the members have not been read, those that were added may
  /// have been members before, which the store tells.
  private func isAdded(
    to members: RelatedObjects, of object: NSManagedObject, at place: Int, _ isMeant: (NSManagedObject) -> Bool
  ) throws -> Bool {
    if members.isFault, let relationship = object.layout.slots[place].relationship {
      _ = try throwingErrorsOfFaults { object.members(of: relationship, at: place) }
    }
    return members.added.contains(where: isMeant)
  }

  /// Reads the row of a fault. False if the row is gone: that is a conflict, which the check under the store lock
  /// finds.
  func hasRow(_ object: NSManagedObject) throws -> Bool {
    do {
      try object.realise(self)
      return true
    } catch {
      guard StoreCalls.isMissing(error) else { throw error }
      return false
    }
  }

  // MARK: Stores

  /// Has each store save its own objects, and updates the context accordingly. If a store fails, the changes that other
  /// stores have saved before stay saved.
  private func send(_ coordinator: NSPersistentStoreCoordinator) throws {
    var saved: [NSPersistentStore] = []
    var revision: UInt64?
    var token: NSPersistentHistoryToken?
    // The updated objects in the stores' requests. When a store reads the values of such an object, the object may turn
    // out to have no changes; the store was asked to save it nonetheless.
    var replaced = ObjectList()
    var attempts = SaveAttempts()
    while true {
      var waiting = pending.objects + pending.locked.filter { !$0.hasChanges }
      if !saved.isEmpty { waiting.removeAll { coordinator.isObject($0, ofOneOf: saved) } }
      do {
        try coordinator.withStoreLock {
          let conflicts = try conflicts(of: waiting, coordinator)
          guard conflicts.isEmpty else { throw ConflictCheck.error(conflicts) }
          for request in try requests(waiting, coordinator) where !saved.contains(where: { $0 === request.store }) {
            try coordinator.save(request.made, in: request.store, self)
            revision = saved.isEmpty ? (request.store as? any SaveNumberingStore)?.lastRevision : nil
            token = NSPersistentHistoryToken.adding(lastTransactionOf: request.store, to: token)
            saved.append(request.store)
            if replaced.isEmpty {
              replaced = ObjectList(request.updated)
            } else {
              for object in request.updated { replaced.append(object) }
            }
          }
        }
        finish(coordinator, replaced, revision, token)
        return
      } catch {
        do {
          try settle(error, &attempts, coordinator)
          takeBackDerivations(except: saved)
          try derive(pending.written.filter { !coordinator.isObject($0, ofOneOf: saved) })
        } catch {
          if !saved.isEmpty { finish(coordinator, replaced, revision, token, in: saved) }
          throw error
        }
      }
    }
  }

  /// The conflicts of objects that are about to be saved, and of the ends of relationships that they have changed. Call
  /// it under the store lock.
  ///
  /// A fault that others have come to refer to, or no more, has no version to compare, and conflicts only if its row is
  /// gone. Stores that find that themselves are not asked for the row first, unless there are other conflicts. Nor are
  /// stores that compare rows when they save asked for newer states of rows that were read.
  private func conflicts(
    of objects: [NSManagedObject], _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [NSMergeConflict] {
    let compareRows = coordinator.persistentStores.allSatisfy { ($0 as? any ComparingStore)?.comparesRows == true }
    let findRows = stalenessInterval < 0 && coordinator.persistentStores.allSatisfy(\.findsMissingRows)
    var (read, checked, faults): ([NSManagedObject], [NSManagedObject], [NSManagedObject]) = ([], [], [])
    for object in objects where object.isChecked {
      if compareRows, object.snapshot != nil {
        read.append(object)
      } else if findRows, object.isTouchedFault {
        faults.append(object)
      } else {
        checked.append(object)
      }
    }
    let conflicts =
      try permittingOldValues { try ConflictCheck.conflicts(read, self) } + conflictsWithRows(checked, coordinator)
      + conflictsOfCheckedEnds()
    return conflicts.isEmpty ? [] : try conflicts + conflictsWithRows(faults, coordinator)
  }

  /// The conflicts of objects with their rows, which a store far away reads together if the context permits no old
  /// values.
  private func conflictsWithRows(
    _ objects: [NSManagedObject], _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [NSMergeConflict] {
    guard stalenessInterval >= 0, !objects.isEmpty else { return try ConflictCheck.conflicts(objects, self) }
    var areRead = true
    for store in coordinator.persistentStores {
      let ids = objects.map(\.objectID).filter { $0.persistentStore === store }
      guard areRead, !ids.isEmpty else { continue }
      areRead = try (store as? any ComparingStore)?.readRows(of: ids) ?? false
    }
    guard areRead else { return try ConflictCheck.conflicts(objects, self) }
    return try permittingOldValues { try ConflictCheck.conflicts(objects, self) }
  }

  private func permittingOldValues<R>(_ body: () throws -> R) rethrows -> R {
    let interval = stalenessInterval
    defer { stalenessInterval = interval }
    stalenessInterval = -1
    return try body()
  }

  /// Resolves the conflicts that an attempt to save has met. Throws the error if it is no conflict, or if no other
  /// attempt may be made.
  func settle(_ error: any Error, _ attempts: inout SaveAttempts, _ coordinator: NSPersistentStoreCoordinator) throws {
    guard let conflicts = ConflictCheck.conflicts(in: error), attempts.mayRepeat(after: conflicts) else { throw error }
    try resolve(conflicts)
    // Values taken from the store may refer to objects that are deleted here.
    pending.propagate(pending.deleted.elements)
    try propagateAllDeletions()
    try makeEndsAgree(droppingDeleted: true)
    // Resolving a conflict may have changed values of objects.
    try validate()
  }

  /// Has the merge policy resolve conflicts, but for those of objects that nobody has changed here.
  private func resolve(_ conflicts: [Any]) throws {
    let policy = mergePolicy as? NSMergePolicy ?? .error
    let (derived, rest) = conflictsByDerivation(conflicts)
    let (ends, others) = policy.mergeType == .errorMergePolicyType ? ([], rest) : separateCheckedEnds(rest)
    if !others.isEmpty { try throwingErrorsOfFaults { try policy.resolve(mergeConflicts: others) } }
    settleByDerivation(derived)
    try settleCheckedEnds(ends)
  }

  /// A request for each store that has objects to save. If nothing has changed, an empty request for every store.
  private func requests(
    _ objects: [NSManagedObject], _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [StoreRequest] {
    var requests = coordinator.persistentStores.map(StoreRequest.init)
    for object in objects where !object.state.marks.contains(.gone) {
      guard let list = StoreRequest.list(for: object) else { continue }
      let store = try coordinator.store(of: object.objectID)
      if requests.count > 1 { try checkStores(of: object, store, coordinator) }
      guard let place = requests.firstIndex(where: { $0.store === store }) else { continue }
      switch list {
      case .inserted: requests[place].inserted.append(object)
      case .updated: requests[place].updated.append(object)
      case .deleted: requests[place].deleted.append(object)
      case .locked: requests[place].locked.append(object)
      }
    }
    return requests.allSatisfy(\.isEmpty) ? requests : requests.filter { !$0.isEmpty }
  }

  /// Throws if an object refers to an object of another store.
  private func checkStores(
    of object: NSManagedObject, _ store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator
  ) throws {
    guard !object.values.isEmpty else { return }
    for place in object.layout.relationships {
      let value = object.values[place]
      let related: [NSManagedObjectID] =
        switch value {
        case .members(let members): members.added.map(\.objectID)
        default: value.objectID.map { [$0] } ?? []
        }
      guard let other = related.first(where: { coordinator.presentStore(of: $0) !== store }) else { continue }
      let name = object.layout.slots[place].name
      throw CoreDataError.make(
        NSManagedObjectExternalRelationshipError,
        "\(object.entity.name ?? "").\(name) refers to an object of another store, \(other).",
        [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: name])
    }
  }
}

/// The objects that a store is to save, in their order.
private struct StoreRequest {
  enum List {
    case inserted
    case updated
    case deleted
    case locked
  }

  let store: NSPersistentStore
  var inserted: [NSManagedObject] = []
  var updated: [NSManagedObject] = []
  var deleted: [NSManagedObject] = []
  var locked: [NSManagedObject] = []

  init(_ store: NSPersistentStore) { self.store = store }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty }

  var made: NSSaveChangesRequest {
    NSSaveChangesRequest(
      inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted), locked: Set(locked))
  }

  /// The list that an object belongs to; nil if there is nothing to save.
  static func list(for object: NSManagedObject) -> List? {
    if object.isInserted { return .inserted }
    if object.isDeleted { return .deleted }
    if object.hasPersistentChangedValues { return .updated }
    return object.state.marks.contains(.locked) ? .locked : nil
  }
}

extension NSManagedObject {
  /// Whether the next save compares the object's version with the store's.
  final var isChecked: Bool {
    !isInserted && (isDeleted || state.marks.contains(.locked) || hasPersistentChangedValues)
  }

  /// Whether it is a fault whose row was never read, of which only members of relationships have changed.
  fileprivate final var isTouchedFault: Bool { isFault && snapshot == nil && state.change == .updated }

  /// Whether a relationship with a required number of objects was changed. In a fault, only the other end can have
  /// changed it.
  fileprivate final var hasBoundedChange: Bool {
    layout.bounded.contains(where: hasChanged)
  }
}

extension NSPersistentStore {
  /// Whether a save of the store finds out by itself that the row of an updated object is gone.
  fileprivate final var findsMissingRows: Bool { self is any SaveNumberingStore && !(self is any LoadingStore) }
}
