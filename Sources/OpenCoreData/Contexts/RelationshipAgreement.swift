import Foundation

/// Agreement between the two ends of each changed relationship, before a save.
///
/// Setting a relationship changes both ends. They can differ nevertheless if somebody else has changed the relationship
/// between the readings of the two ends, or if a merge policy has resolved the conflict of one end only.
extension NSManagedObjectContext {
  /// How often the changes of one end may change the other end of yet another relationship.
  private static let rounds = 100

  /// Records each change of a relationship at both ends, so that the save compares the versions of both with the
  /// store. If the ends contradict each other, a to-one relationship decides.
  ///
  /// Objects whose other end is as the change wants it, as far as is known, are listed in ``checkedEnds``.
  ///
  /// New references to objects that turn out to be gone are dropped.
  ///
  /// - Parameter droppingDeleted: whether new references to all deleted objects are dropped. After conflicts, these are
  ///   objects that somebody else has deleted.
  /// - Throws: the error of the store when an object at the other end is read.
  /// - Complexity: O(changed objects and changes of their relationships).
  func makeEndsAgree(droppingDeleted: Bool) throws {
    try throwingErrorsOfFaults {
      for object in pending.inserted where object.state.marks.contains(.reinserted) { try rejoin(object) }
      for _ in 0..<Self.rounds {
        checkedEnds.removeAll()
        var hasChanged = false
        for object in pending.written where !object.values.isEmpty {
          let layout = object.layout
          for place in layout.relationships where object.isInserted || object.hasChanged(at: place) {
            hasChanged = makeEndsAgree(object, layout.slots[place], at: place, droppingDeleted) || hasChanged
          }
        }
        if droppingDeleted {
          for object in pending.deleted.elements { hasChanged = dropFromFormerEnds(object) || hasChanged }
        }
        guard hasChanged else { return }
      }
    }
  }

  /// Makes the objects to which a deleted object was related when it was read refer to it no more. They may do so again,
  /// because a merge policy has preferred what the store has. Returns whether anything has changed.
  private func dropFromFormerEnds(_ object: NSManagedObject) -> Bool {
    var hasChanged = false
    for place in object.layout.relationships where !object.values.isEmpty {
      guard let relationship = object.layout.slots[place].relationship, !object.layout.slots[place].isTransient,
        relationship.deleteRule != .noActionDeleteRule, let inverse = relationship.inverseRelationship
      else { continue }
      for other in object.changedEnds(at: place).left where isPresent(other) {
        hasChanged = leave(other, inverse, object) || hasChanged
      }
    }
    return hasChanged
  }

  /// Returns whether anything has changed.
  private func makeEndsAgree(
    _ object: NSManagedObject, _ slot: EntityLayout.Slot, at place: Int, _ droppingDeleted: Bool
  ) -> Bool {
    guard !slot.isTransient else { return false }
    let (joined, left) = object.changedEnds(at: place)
    guard !joined.isEmpty || !left.isEmpty else { return false }
    let inverse = slot.inverse
    var hasChanged = false
    for other in joined {
      if hasNoted(other, slot, object) { continue }
      let isPresent = isPresent(other)
      if isPresent, let inverse { hasChanged = join(other, inverse, object, at: place) || hasChanged }
      guard other.isInaccessible || droppingDeleted && !isPresent else { continue }
      object.giveUp(other, at: place)
      hasChanged = true
    }
    guard let inverse else { return hasChanged }
    for other in left where isPresent(other) {
      hasChanged = leave(other, inverse, object) || hasChanged
    }
    return hasChanged
  }

  /// Whether an object is in the context, not deleted, and has noted that another one, which has come to refer to it by a
  /// relationship, has become a member of the inverse.
  private func hasNoted(
    _ object: NSManagedObject, _ relationship: EntityLayout.Slot, _ member: NSManagedObject
  ) -> Bool {
    guard object.registry === registry, !object.isDeleted, !object.isInaccessible,
      let place = object.layout.place(ofInverseOf: relationship)
    else { return false }
    return object.relatedObjects(at: place)?.hasAdded(member) == true
  }

  /// Whether an object is in the context and not deleted. If its row was gone and exists again, it is not deleted any
  /// more.
  func isPresent(_ object: NSManagedObject) -> Bool {
    guard object.registry === registry else { return false }
    guard object.isDeleted else { return true }
    guard isGone(object), (try? node(for: object.objectID)) != nil else { return false }
    revive(object)
    return true
  }

  /// Makes `other` refer to an object that now refers to `other`. Returns whether anything has changed.
  private func join(
    _ other: NSManagedObject, _ inverse: NSRelationshipDescription, _ object: NSManagedObject, at place: Int
  ) -> Bool {
    if inverse.isToMany {
      guard other.knownMembers(inverse)?.hasAdded(object) != true else { return false }
    } else {
      guard let (related, hasChanged) = other.single(inverse) else { return false }
      if related === object {
        if !hasChanged { check(other, inverse, object, refers: true) }
        return false
      }
      if hasChanged {
        object.giveUp(other, at: place)
        return true
      }
    }
    other.takeInverseAgain(object, inverse)
    return true
  }

  /// Makes `other` refer no more to an object that does not refer to `other` any more. Returns whether anything has
  /// changed.
  private func leave(
    _ other: NSManagedObject, _ inverse: NSRelationshipDescription, _ object: NSManagedObject
  ) -> Bool {
    if inverse.isToMany {
      if let members = other.knownMembers(inverse) {
        if members.hasRemoved(object) || members.hasAdded(object) { return false }
        if !members.isFault, !members.contains(object) {
          check(other, inverse, object, refers: false)
          return false
        }
      }
    } else {
      guard let (related, hasChanged) = other.single(inverse), !hasChanged else { return false }
      guard related === object else {
        check(other, inverse, object, refers: false)
        return false
      }
    }
    other.dropInverse(object, inverse, isOutdated: true)
    return true
  }

  // MARK: Objects that are inserted again

  /// Relates an object that is inserted again to the objects that refer to it still, because the rule No Action has kept
  /// their references.
  private func rejoin(_ object: NSManagedObject) throws {
    for place in object.layout.relationships {
      guard let relationship = object.layout.slots[place].relationship, relationship.deleteRule == .noActionDeleteRule,
        let inverse = relationship.inverseRelationship, !inverse.isToMany
      else { continue }
      for other in try objectsReferring(to: object, inverse) where !other.isDeleted && !other.hasChanged(inverse) {
        if case .members(let members) = object.values[place] {
          members.noteAddition(of: other)
        } else if let related = object.toOne(at: place), related !== other {
          other.dropInverse(object, inverse, isOutdated: true)
          continue
        } else {
          object.put(.object(other), at: place)
        }
        other.takeInverseAgain(object, inverse)
      }
    }
  }

  /// The objects whose rows refer to an object by a to-one relationship, as the object's store has them.
  private func objectsReferring(
    to object: NSManagedObject, _ relationship: NSRelationshipDescription
  ) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = relationship.inverseRelationship?.destinationEntity
    request.predicate = NSPredicate(format: "%K == %@", relationship.name, object.objectID)
    request.includesPendingChanges = false
    request.affectedStores = persistentStoreCoordinator?.presentStore(of: object.objectID).map { [$0] }
    return try fetch(request)
  }

  // MARK: Conflicts of the other ends

  private func check(
    _ other: NSManagedObject, _ inverse: NSRelationshipDescription, _ object: NSManagedObject, refers: Bool
  ) {
    checkedEnds.append(CheckedEnd(object: other, relationship: inverse, changed: object, refers: refers))
  }

  /// The conflicts of unchanged objects in ``checkedEnds`` whose rows contradict the changes of the other ends. Call it
  /// under the store lock.
  func conflictsOfCheckedEnds() throws -> [NSMergeConflict] {
    let ends = Dictionary(grouping: checkedEnds.filter { !$0.object.isInserted && !$0.object.isChecked }, by: \.object)
    return try ConflictCheck.conflicts(Array(ends.keys), self).filter { conflict in
      try ends[conflict.sourceObject]?.contains { try $0.isContradicted(by: conflict, self) } ?? false
    }
  }

  /// Divides conflicts into those of unchanged objects in ``checkedEnds``, and the others.
  func separateCheckedEnds(_ conflicts: [Any]) -> (ends: [NSManagedObject], others: [Any]) {
    var ends: [NSManagedObject] = []
    let checked = ObjectList(checkedEnds.map(\.object))
    let others = conflicts.filter { conflict in
      guard let object = (conflict as? NSMergeConflict)?.sourceObject, checked.contains(object),
        !object.hasPersistentChangedValues
      else { return true }
      ends.append(object)
      return false
    }
    return (ends, others)
  }

  /// Takes the rows of such objects, which have nothing to merge. The changed objects then refer to what is stored.
  func settleCheckedEnds(_ objects: [NSManagedObject]) throws {
    for object in objects {
      do {
        if object.isFault { try object.realise(self) } else { try object.refresh(self) }
        pending.event.noteRefresh(of: object)
      } catch {
        guard StoreCalls.isMissing(error) else { throw error }
        rowIsGone(object, insertsAgain: false)
      }
    }
  }
}

/// The unchanged end of a relationship whose other end has changed.
struct CheckedEnd {
  let object: NSManagedObject
  /// The relationship of the object.
  let relationship: NSRelationshipDescription
  /// The object at the other end.
  let changed: NSManagedObject
  /// Whether the change wants the object to refer to the other end, or not to.
  let refers: Bool

  /// Whether the object's row, which somebody else has changed, is not as the change wants it.
  fileprivate func isContradicted(by conflict: NSMergeConflict, _ context: NSManagedObjectContext) throws -> Bool {
    guard let row = conflict.cachedSnapshot else { return refers }
    let related =
      relationship.isToMany
      ? try context.relatedIDs(relationship, of: object.objectID)
      : [row[relationship.name] as? NSManagedObjectID].compactMap(\.self)
    return related.contains(changed.objectID) != refers
  }
}

extension NSManagedObject {
  /// The objects that a changed relationship has come to refer to since the last save, and those that it no longer
  /// refers to.
  final func changedEnds(at place: Int) -> (joined: ObjectList, left: ObjectList) {
    if case .members(let members) = values[place] {
      // An object that is inserted again has members that were not added.
      return (isInserted ? members.members ?? members.added : members.added, members.removed)
    }
    let old = snapshot?.values[place].objectID.flatMap { managedObjectContext?.object(with: $0) }
    return (ObjectList(toOne(at: place)), ObjectList(old))
  }

  /// The members of a to-many relationship, if any of them are known or have changed.
  fileprivate final func knownMembers(_ relationship: NSRelationshipDescription) -> RelatedObjects? {
    layout.place(of: relationship).flatMap { relatedObjects(at: $0) }
  }

  /// The object that a to-one relationship refers to, and whether the relationship has changed; nil if the object's row
  /// is gone.
  fileprivate final func single(
    _ relationship: NSRelationshipDescription
  ) -> (related: NSManagedObject?, hasChanged: Bool)? {
    fireFault(relationship.name)
    guard !isFault, !isInaccessible, let place = layout.place(of: relationship) else { return nil }
    return (toOne(at: place), hasChanged(at: place))
  }

  fileprivate final func hasChanged(_ relationship: NSRelationshipDescription) -> Bool {
    layout.place(of: relationship).map(hasChanged) ?? false
  }

  /// Gives up a new reference to an object.
  final func giveUp(_ other: NSManagedObject, at place: Int) {
    guard case .members(let members) = values[place] else {
      change(at: place, to: .null)
      return
    }
    noteEvent()
    if isInserted { members.drop(other) } else { members.takeBackAddition(of: other) }
  }
}
