import Foundation

/// Derived attributes, which a save computes.
///
/// An attribute that is derived from properties of the object itself is computed whenever the object is saved. An
/// attribute that is derived from other objects is computed whenever one of the properties on its key path changes: the
/// object is then part of the same save, its version rises if the value differs, and other contexts learn of it as of
/// any changed object.
extension NSManagedObjectContext {
  /// How often derived values may change other derived values.
  private static let rounds = 100

  /// Computes the derived attributes of objects that are going to be saved, and those of saved objects that are derived
  /// from them. If their values differ, these objects are saved as well.
  ///
  /// Reads the rows of unchanged objects on the key paths again, since somebody else may have changed them.
  func derive(_ objects: [NSManagedObject]) throws {
    let objects = try objects + formerOwners(of: objects)
    let deriving = try objects.filter { try !$0.layout.derived.isEmpty && hasRow($0) }
    // An earlier attempt may have derived them from changes that were given up since.
    for object in deriving { object.takeBackDerived { $0.readsOthers } }
    let anew = ObjectList(deriving.filter { $0.isInserted || $0.hasChangedDerivation })
    try readPathsAgain(of: anew.elements)
    for object in deriving { try derive(object) { !$0.readsOthers || anew.contains(object) } }
    guard let derivations = persistentStoreCoordinator?.managedObjectModel.derivations, !derivations.isEmpty else {
      return
    }
    var changed = objects
    for round in 0..<Self.rounds {
      var owners = ObjectList()
      for object in changed {
        for reading in derivations[object.entity] {
          guard let place = object.layout.place(of: reading.name), object.hasChanged(at: place) else { continue }
          for owner in try follow(reading.way, from: object)
          where round > 0 || reading.isDerived || !anew.contains(owner) { owners.append(owner) }
        }
      }
      guard !owners.isEmpty else { return }
      changed = try deriveOwners(owners.elements)
    }
    throw CoreDataError.make(
      NSManagedObjectValidationError,
      "Derived attributes have changed each other \(Self.rounds) times: \(changed.first?.entity.name ?? "") is derived "
        + "from itself.")
  }

  /// Computes what saved objects derive from others, and returns the objects for which it has changed.
  private func deriveOwners(_ owners: [NSManagedObject]) throws -> [NSManagedObject] {
    let owners = try owners.filter {
      try $0.registry === registry && !$0.isDeleted && !$0.layout.derived.isEmpty && hasRow($0)
    }
    try readAgain(ObjectList(owners))
    try readPathsAgain(of: owners)
    return try owners.filter { owner in
      let before = owner.values
      let isUnchanged = !owner.hasChanges
      try derive(owner) { $0.readsOthers }
      guard owner.layout.derived.contains(where: { !owner.values[$0.place].isEqual(before[$0.place]) }) else {
        return false
      }
      guard isUnchanged else { return true }
      owner.noteEvent(before: before)
      owner.noteChange()
      ownersByDerivation.append(owner)
      try derive(owner) { !$0.readsOthers }
      return true
    }
  }

  private func derive(_ object: NSManagedObject, where isDerived: (EntityLayout.Derived) -> Bool) throws {
    for derived in object.layout.derived where isDerived(derived) {
      guard let expression = derived.attribute.derivationExpression else { continue }
      let value = PredicateValue(
        try throwingErrorsOfFaults { expression.expressionValue(with: object, context: nil) })
      let converted = derived.attribute.attributeType.convert(value).anyValue
      object.put(ManagedValue(converted, of: derived.attribute), at: derived.place)
    }
  }

  // MARK: Other objects

  /// The unchanged objects to which changed objects are no longer related, and whose derivations read these. A context
  /// that has read the other end of the relationship before somebody else has changed it does not know that it changes.
  private func formerOwners(of objects: [NSManagedObject]) throws -> [NSManagedObject] {
    guard let derivations = persistentStoreCoordinator?.managedObjectModel.derivations, !derivations.isEmpty else {
      return []
    }
    var owners: [NSManagedObject] = []
    for object in objects {
      for reading in derivations[object.entity] {
        guard let relationship = reading.way.first, let inverse = relationship.inverseRelationship, inverse.isToMany,
          let place = object.layout.place(of: relationship.name), object.hasChanged(at: place)
        else { continue }
        for owner in formerlyRelated(object, at: place) where owner.registry === registry && !owner.isDeleted {
          let isUnchanged = !owner.hasChanges
          try throwingErrorsOfFaults { owner.dropInverse(object, inverse, isOutdated: true) }
          guard isUnchanged, owner.hasChanges else { continue }
          ownersByDerivation.append(owner)
          owners.append(owner)
        }
      }
    }
    return owners
  }

  private func formerlyRelated(_ object: NSManagedObject, at place: Int) -> [NSManagedObject] {
    if case .members(let members) = object.values[place] { return members.removed.elements }
    return object.snapshot?.values[place].objectID.map { [self.object(with: $0)] } ?? []
  }

  /// The objects to which relationships lead from an object, one after the other, as they are stored now.
  private func follow(
    _ way: [NSRelationshipDescription], from object: NSManagedObject
  ) throws -> [NSManagedObject] {
    var objects = [object]
    for (hop, relationship) in way.enumerated() {
      if hop > 0 { try readAgain(ObjectList(objects)) }
      for object in objects { object.forgetMembers(relationship.name) }
      objects = try objects.flatMap { try related($0, relationship.name) }
    }
    return objects
  }

  private func related(_ object: NSManagedObject, _ name: String) throws -> [NSManagedObject] {
    guard let place = object.layout.place(of: name), let relationship = object.layout.slots[place].relationship else {
      return []
    }
    return try throwingErrorsOfFaults {
      if relationship.isToMany { return object.members(of: relationship, at: place).elements }
      object.fireFault(name)
      return object.isFault ? [] : object.toOne(at: place).map { [$0] } ?? []
    }
  }

  /// Reads the members of relationships on the key paths of derivations again, and the rows of unchanged objects there.
  private func readPathsAgain(of objects: [NSManagedObject]) throws {
    var waiting: [(objects: [NSManagedObject], path: ArraySlice<String>)] = objects.flatMap { object in
      object.layout.derived.flatMap { $0.paths.map { ([object], $0[...]) } }
    }
    while !waiting.isEmpty {
      waiting = try waiting.compactMap { objects, path in
        guard let name = path.first else { return nil }
        for object in objects { object.forgetMembers(name) }
        let next = try objects.flatMap { try related($0, name) }
        return next.isEmpty ? nil : (next, path.dropFirst())
      }
      try readAgain(ObjectList(waiting.flatMap(\.objects)))
    }
  }

  private func readAgain(_ objects: ObjectList) throws {
    // Of the others, the save compares the versions.
    let unchanged = objects.filter {
      $0.registry === registry && !$0.isInserted && !$0.isDeleted && !$0.hasPersistentChangedValues
    }
    guard !unchanged.isEmpty else { return }
    persistentStoreCoordinator?.rowsMayBeStale(unchanged.map(\.objectID))
    for object in unchanged {
      guard let snapshot = object.snapshot else { continue }
      do {
        guard snapshot.isOutdated(by: try node(for: object.objectID)) else { continue }
        try object.refresh(self)
        pending.event.noteRefresh(of: object)
      } catch {
        // The object is deleted. If that concerns the derivation, the row at the other end has changed, too.
        guard StoreCalls.isMissing(error) else { throw error }
      }
    }
  }

  // MARK: Conflicts and failures

  /// The objects of conflicts that have no changes but those of derivations, and the other conflicts.
  func conflictsByDerivation(_ conflicts: [Any]) -> (derived: [NSManagedObject], others: [Any]) {
    let objects = conflicts.map { ($0 as? NSMergeConflict)?.sourceObject }
    return (
      objects.compactMap(\.self).filter(ownersByDerivation.contains),
      zip(conflicts, objects).filter { $1.map(ownersByDerivation.contains) != true }.map(\.0)
    )
  }

  /// Reads the rows of such objects again, which are to be derived anew.
  func settleByDerivation(_ owners: [NSManagedObject]) {
    for owner in owners {
      ownersByDerivation.remove(owner)
      takeBackDerivation(of: owner)
      // A row that is gone is to be derived no more.
      if (try? owner.refresh(self)) == nil { owner.turnIntoFault() }
    }
  }

  /// Makes the objects that only derivations have changed unchanged again, except those that some stores have saved.
  func takeBackDerivations(except stores: [NSPersistentStore] = []) {
    for owner in ownersByDerivation where persistentStoreCoordinator?.isObject(owner, ofOneOf: stores) != true {
      takeBackDerivation(of: owner)
      ownersByDerivation.remove(owner)
    }
  }

  private func takeBackDerivation(of owner: NSManagedObject) {
    guard owner.isUpdated else { return }
    owner.takeBackDerived { _ in true }
    if !owner.hasPersistentChangedValues { pending.forget(updateOf: owner) }
  }
}

extension NSManagedObject {
  /// Gives derived attributes the values that were fetched or saved last.
  fileprivate final func takeBackDerived(where isMeant: (EntityLayout.Derived) -> Bool) {
    guard let snapshot else { return }
    for derived in layout.derived where isMeant(derived) { put(snapshot.values[derived.place], at: derived.place) }
  }

  /// Has the members of a to-many relationship read again. The relationship keeps its changes.
  fileprivate final func forgetMembers(_ name: String) {
    guard !objectID.isTemporaryID, !isInserted, !values.isEmpty, let place = layout.place(of: name),
      case .members(let members) = values[place]
    else { return }
    forget(members, at: place)
  }

  /// Whether a derivation reads other objects by a relationship that has changed, or has never been computed.
  fileprivate final var hasChangedDerivation: Bool {
    layout.derived.contains { derived in
      derived.readsOthers && (values[derived.place].isNull || derived.relationships.contains(where: hasChanged))
    }
  }
}
