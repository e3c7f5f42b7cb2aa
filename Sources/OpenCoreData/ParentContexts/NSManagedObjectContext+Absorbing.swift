import Foundation

/// What a parent does when a child saves.
extension NSManagedObjectContext {
  /// Makes the changes of a child unsaved changes of this context. Of an object that both have changed, only the
  /// properties take the child's values that the child has changed.
  ///
  /// - Throws: the error of a store when a changed object, or an object that a change reaches, is read. Nothing has
  ///   changed then.
  func absorb(_ changes: PushedChanges, from registry: ObjectRegistry) throws {
    forgetFreed()
    let read = try throwingErrorsOfFaults {
      var read: [NSManagedObject] = []
      for theirs in changes.updated + changes.deleted + changes.locked { read.append(try realised(own(theirs))) }
      for theirs in changes.written { read += try readEnds(of: theirs) }
      return read
    }
    // Nothing else keeps an object without changes, and its values, in memory.
    defer { withExtendedLifetime(read) {} }
    for theirs in changes.inserted { absorb(inserted: theirs) }
    for theirs in changes.updated { absorb(updated: theirs, from: registry) }
    for theirs in changes.written { absorbRelationships(of: theirs) }
    for theirs in changes.deleted { absorb(deleted: theirs, from: registry) }
    if !changes.deleted.isEmpty { giveUpReferences(to: ObjectList(changes.deleted.map(own))) }
    for theirs in changes.locked { detectConflicts(for: own(theirs)) }
    processPendingChanges()
  }

  /// The object of this context with the identifier of a child's object.
  private func own(_ theirs: NSManagedObject) -> NSManagedObject { object(with: theirs.objectID) }

  // MARK: Reading

  private func realised(_ own: NSManagedObject) throws -> NSManagedObject {
    try own.realise(self)
    return own
  }

  /// Reads what the changes of an object's relationships are going to change here, so that no change finds a fault that
  /// cannot be read. Returns the objects, which the caller retains.
  private func readEnds(of theirs: NSManagedObject) throws -> [NSManagedObject] {
    var read: [NSManagedObject] = []
    for place in theirs.layout.relationships where theirs.isPushed(at: place) {
      guard let relationship = theirs.layout.slots[place].relationship else { continue }
      if relationship.isOrdered, !theirs.isInserted { _ = own(theirs).members(of: relationship, at: place) }
      guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
      if !relationship.isToMany, !theirs.isInserted, let former = own(theirs).toOne(at: place) {
        read.append(try realised(former))
      }
      let (joined, left) = theirs.changedEnds(at: place)
      // An object that was inserted and deleted again is in no context any more.
      for other in joined.elements + left.elements where !other.isInserted && other.registry != nil {
        let end = own(other)
        do {
          read.append(try realised(end))
        } catch  where StoreCalls.isMissing(error) && left.contains(other) {
          // Nobody refers any more to an object whose row is gone.
          continue
        }
        if let place = end.layout.place(of: inverse.name), let former = end.toOne(at: place) {
          read.append(try realised(former))
        }
      }
    }
    return read
  }

  // MARK: Changing

  private func absorb(inserted theirs: NSManagedObject) {
    // The stores have been told of an object that is known already.
    let isKnown = self.registry[theirs.objectID] != nil || theirs.state.marks.contains(.reinserted)
    let own = isKnown ? own(theirs) : makeFault(theirs.objectID)
    if own.state.change == .deleted {
      insert(own)
      changeAttributes(of: own, to: theirs) { _ in true }
      return
    }
    undoRecorder?.note(own, isNew: true)
    own.loseRow()
    own.takeDefaults()
    for (place, slot) in own.layout.slots.enumerated() where slot.attribute != nil && !slot.isTransient {
      own.put(theirs.values[place], at: place)
    }
    if isKnown {
      pending.insertAgain(own)
      pending.event.noteInsertion(of: own)
    } else {
      pending.insert(own)
    }
  }

  private func absorb(updated theirs: NSManagedObject, from registry: ObjectRegistry) {
    let own = own(theirs)
    own.noteConflict(with: theirs, registry) { theirs.hasChanged(at: $0) }
    changeAttributes(of: own, to: theirs) { theirs.hasChanged(at: $0) }
  }

  private func changeAttributes(
    of own: NSManagedObject, to theirs: NSManagedObject, where isChanged: (Int) -> Bool
  ) {
    for (place, slot) in own.layout.slots.enumerated()
    where slot.attribute != nil && !slot.isTransient && isChanged(place) {
      own.change(at: place, to: theirs.values[place])
    }
    own.noteChange()
  }

  private func absorbRelationships(of theirs: NSManagedObject) {
    let own = own(theirs)
    for place in theirs.layout.relationships where theirs.isPushed(at: place) {
      guard let relationship = theirs.layout.slots[place].relationship else { continue }
      if case .members(let members) = theirs.values[place] {
        absorb(members, relationship, of: own, at: place, isInserted: theirs.isInserted)
      } else {
        own.setToOne(theirs.toOne(at: place).map(self.own), relationship, at: place)
      }
      own.noteChange()
    }
  }

  private func absorb(
    _ members: RelatedObjects, _ relationship: NSRelationshipDescription, of own: NSManagedObject, at place: Int,
    isInserted: Bool
  ) {
    guard !isInserted else { return own.setMembers(members.elements.map(self.own), relationship, at: place) }
    for other in members.removed where other.registry != nil { own.remove(self.own(other), relationship, at: place) }
    for other in members.added { own.add(self.own(other), relationship, at: place) }
    guard relationship.isOrdered else { return }
    let present = own.members(of: relationship, at: place)
    // The other ends may have added members in another order.
    let added = ObjectList(members.added.map(self.own))
    var order = present.elements.filter { !added.contains($0) } + added.elements
    if members.isReordered, let wanted = members.members ?? members.wanted {
      let first = ObjectList(wanted.map(self.own))
      order = first.filter(present.contains) + order.filter { !first.contains($0) }
    }
    own.noteEvent()
    present.reorder(order)
  }

  private func absorb(deleted theirs: NSManagedObject, from registry: ObjectRegistry) {
    let own = own(theirs)
    guard !own.isDeleted else { return }
    own.noteConflict(with: theirs, registry) { _ in true }
    undoRecorder?.note(own)
    pending.delete(own)
  }

  /// Gives up unsaved references that the deletion of their objects leaves as they are. A child may have saved such a
  /// reference first and the deletion later; here they are saved together.
  private func giveUpReferences(to deleted: ObjectList) {
    for object in pending.written where !object.values.isEmpty {
      for place in object.layout.relationships {
        let inverse = object.layout.slots[place].relationship?.inverseRelationship
        guard inverse.map({ $0.deleteRule == .noActionDeleteRule }) ?? true, object.hasChanged(at: place) else {
          continue
        }
        for other in object.changedEnds(at: place).joined where deleted.contains(other) {
          object.giveUp(other, at: place)
        }
      }
    }
  }
}

extension NSManagedObject {
  /// Whether a save of its context changes a relationship in the parent.
  fileprivate final func isPushed(at place: Int) -> Bool {
    guard !layout.slots[place].isTransient, !values.isEmpty else { return false }
    return isInserted || hasChanged(at: place)
  }

  /// Has the next save find a conflict if somebody who does not save through this context has changed the row since a
  /// child's object read it: some of the values that the child wants to replace. The row counts as that which the child
  /// has read.
  fileprivate final func noteConflict(
    with theirs: NSManagedObject, _ registry: ObjectRegistry, where isReplaced: (Int) -> Bool
  ) {
    guard let read = theirs.snapshot, let known = snapshot, read.version != known.version else { return }
    let id = objectID
    let readVersion = registry.version(of: id, startingAt: read.version)
    let knownVersion = self.registry?.version(of: id, startingAt: known.version)
    guard readVersion != knownVersion else { return }
    let replaced = layout.slots.indices.filter {
      layout.slots[$0].isInSnapshot && isReplaced($0) && !read.values[$0].isEqual(known.values[$0])
    }
    if !replaced.isEmpty { count(asRead: read, replacing: replaced) }
  }
}
