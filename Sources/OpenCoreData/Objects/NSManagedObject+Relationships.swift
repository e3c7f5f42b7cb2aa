public import Foundation

extension NSManagedObject {
  // MARK: Reading

  /// The object at the other end of a to-one relationship, which may be a fault. The row must have been read.
  final func toOne(at place: Int) -> NSManagedObject? {
    switch values[place] {
    case .object(let object): return object
    case .reference(let id):
      guard let object = managedObjectContext?.object(with: id) else { return nil }
      put(.object(object), at: place)
      return object
    default: return nil
    }
  }

  /// The members of a to-many relationship. Reads them from the store if they have not been read yet.
  final func members(of relationship: NSRelationshipDescription, at place: Int) -> RelatedObjects {
    let members = relatedObjectsSoFar(at: place)
    guard members.isFault, let ids = members.stored?.ids ?? storedIDs(relationship) else { return members }
    members.fire(managedObjectContext?.members(of: relationship, with: ids) ?? [])
    return members
  }

  /// The identifiers of the members that the store has, except for those whose deletion has not been saved yet if the
  /// relationship has no inverse. None if the row is gone: the known members stay until a save finds the conflict. Nil
  /// if the store cannot be read, which the context has handled.
  private final func storedIDs(_ relationship: NSRelationshipDescription) -> [NSManagedObjectID]? {
    guard let context = managedObjectContext, !objectID.isTemporaryID, !isInaccessible else { return [] }
    do {
      return context.present(try context.relatedIDs(relationship, of: objectID), relationship)
    } catch {
      return context.isRowGone(of: self, error) ? [] : nil
    }
  }

  /// As ``storedIDs(_:)`` for a fault, whose row is not read; nil if the object is no fault, if the context knows more
  /// than the store, or if the store needs the row or has none.
  private final func storedIDsOfFault(
    _ relationship: NSRelationshipDescription, at place: Int
  ) -> [NSManagedObjectID]? {
    guard isFault, state.change == .none, relatedObjects(at: place) == nil, let context = managedObjectContext,
      context.parent == nil, let coordinator = context.persistentStoreCoordinator,
      let ids = try? coordinator.members(of: relationship, of: [objectID], context)[0]
    else { return nil }
    return context.present(ids, relationship)
  }

  /// The members of a to-many relationship as far as they are known. Reads nothing, even if the object is a fault.
  final func relatedObjectsSoFar(at place: Int) -> RelatedObjects {
    if values.isEmpty { takeUnreadSlots() }
    if case .members(let members) = values[place] { return members }
    let members = RelatedObjects(isOrdered: layout.slots[place].isOrdered)
    put(.members(members), at: place)
    return members
  }

  /// The number of members of a to-many relationship. Makes no objects of members that have not been read, and reads
  /// no row of a fault if its store can do without.
  final func memberCount(of relationship: NSRelationshipDescription, at place: Int) -> Int {
    if let members = relatedObjects(at: place), !members.isFault { return members.count }
    return memberIDs(of: relationship, at: place).count
  }

  /// The identifiers of the members of a to-many relationship. Makes no objects of members that have not been read,
  /// unless some were added or removed, and reads no row of a fault if its store can do without.
  final func memberIDs(of relationship: NSRelationshipDescription, at place: Int) -> [NSManagedObjectID] {
    if let ids = storedIDsOfFault(relationship, at: place) { return ids }
    fireFault(relationship.name)
    guard hasValues else { return [] }
    let known = relatedObjects(at: place)
    if let known, !known.isFault || known.hasChanges {
      return members(of: relationship, at: place).elements.map(\.objectID)
    }
    return known?.stored?.ids ?? storedIDs(relationship) ?? []
  }

  /// Whether an object is a member of a to-many relationship. Makes no objects of members that have not been read, and
  /// reads their identifiers once.
  final func hasMember(_ object: NSManagedObject, of relationship: NSRelationshipDescription, at place: Int) -> Bool {
    let members = relatedObjectsSoFar(at: place)
    guard members.isFault, !members.hasAdded(object) else { return members.contains(object) }
    guard object.registry === registry, !members.hasRemoved(object) else { return false }
    if members.stored == nil, let ids = storedIDs(relationship) { members.take(StoredMembers(ids)) }
    return members.stored?.contains(object) ?? false
  }

  // MARK: Changing

  final func setToOne(_ object: NSManagedObject?, _ relationship: NSRelationshipDescription, at place: Int) {
    let old = toOne(at: place)
    guard old !== object, !isInaccessible else { return }
    change(at: place, to: object.map { .object($0) } ?? .null)
    let slot = layout.slots[place]
    if let old, let inverse = slot.inverse { old.dropInverse(self, inverse) }
    object?.takeInverse(self, of: slot)
    if object?.isInaccessible == true { put(.null, at: place) }
  }

  final func setMembers(_ objects: [NSManagedObject], _ relationship: NSRelationshipDescription, at place: Int) {
    let members = members(of: relationship, at: place)
    let wanted = ObjectList(objects)
    members.change {
      for object in members.elements where !wanted.contains(object) { remove(object, relationship, at: place) }
      for object in objects { add(object, relationship, at: place) }
    }
    if relationship.isOrdered {
      noteEvent()
      members.reorder(wanted.elements)
    }
  }

  /// Adds a member to a to-many relationship, whose members need not be known.
  final func add(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, at place: Int) {
    requireContext(toChange: layout.slots[place].name)
    guard !isInaccessible else { return }
    noteEvent()
    let members = relatedObjectsSoFar(at: place)
    guard members.add(object) else { return }
    object.takeInverse(self, of: layout.slots[place])
    if object.isInaccessible { members.takeBackAddition(of: object) }
  }

  /// Removes a member from a to-many relationship, whose members need not be known.
  final func remove(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, at place: Int) {
    requireContext(toChange: layout.slots[place].name)
    noteEvent()
    guard relatedObjectsSoFar(at: place).remove(object) else { return }
    if let inverse = relationship.inverseRelationship { object.dropInverse(self, inverse) }
  }

  // MARK: The other end

  /// Makes this object refer to `other`, because `other` refers to it by a relationship, if that has an inverse.
  final func takeInverse(_ other: NSManagedObject, of relationship: EntityLayout.Slot) {
    let layout = layout
    guard let place = layout.place(ofInverseOf: relationship) else { return }
    let inverse = layout.slots[place]
    if inverse.isToMany {
      noteEvent()
      relatedObjectsSoFar(at: place).add(other)
    } else {
      fireFault(inverse.name)
      guard !isFault, !isInaccessible else { return }
      let old = toOne(at: place)
      guard old !== other else { return }
      change(at: place, to: .object(other))
      // The object that it referred to before no longer refers to it.
      if let old, let relationship = relationship.relationship { old.dropInverse(self, relationship) }
    }
    noteChange()
  }

  /// Calls `body` for each object that this object is known to refer to by a relationship with an inverse. Does not
  /// call the store.
  final func forEachKnownRelated(_ body: (NSManagedObject, _ inverse: NSRelationshipDescription) -> Void) {
    for (slot, value) in zip(layout.slots, values) {
      guard let inverse = slot.relationship?.inverseRelationship else { continue }
      switch value {
      case .object(let object): body(object, inverse)
      case .reference(let id): managedObjectContext?.registeredObject(for: id).map { body($0, inverse) }
      case .members(let members): for object in members.elements { body(object, inverse) }
      default: break
      }
    }
  }

  /// Makes this object refer to `other`, and records that as a change even if it refers to `other` already, because the
  /// store may not have the reference any more.
  final func takeInverseAgain(_ other: NSManagedObject, _ inverse: NSRelationshipDescription) {
    guard let place = layout.place(of: inverse) else { return }
    noteEvent()
    if inverse.isToMany {
      relatedObjectsSoFar(at: place).noteAddition(of: other)
    } else {
      refreshUnchanged(at: place)
      fireFault(inverse.name)
      guard !isFault else { return }
      let old = toOne(at: place)
      put(.object(other), at: place)
      if let old, old !== other, let relationship = inverse.inverseRelationship {
        old.dropInverse(self, relationship, isOutdated: true)
      }
    }
    noteChange()
  }

  /// Updates the other ends of a to-one relationship that keeps its value here although the row now refers to another
  /// object.
  final func keepToOne(at place: Int, insteadOf row: ManagedValue) {
    guard let inverse = layout.slots[place].relationship?.inverseRelationship, let context = managedObjectContext else {
      return
    }
    if let id = row.objectID { context.object(with: id).dropInverse(self, inverse, isOutdated: true) }
    if let kept = toOne(at: place), !kept.isDeleted { kept.takeInverseAgain(self, inverse) }
  }

  /// Makes the objects that it refers to refer to it again, now that it is no longer deleted. Drops its references to
  /// objects that are gone.
  final func relateAgain() {
    guard !values.isEmpty else { return }
    for place in layout.relationships {
      guard let inverse = layout.slots[place].relationship?.inverseRelationship else { continue }
      if case .members(let members) = values[place] {
        for other in members.elements
        where !relateAgain(other, inverse, isNew: isInserted || members.hasAdded(other)) {
          noteEvent()
          members.remove(other)
        }
      } else if let other = toOne(at: place), !relateAgain(other, inverse, isNew: isInserted || hasChanged(at: place)) {
        change(at: place, to: .null)
      }
    }
  }

  /// False if `other` is gone.
  private final func relateAgain(
    _ other: NSManagedObject, _ inverse: NSRelationshipDescription, isNew: Bool
  ) -> Bool {
    // An object that was never in a context may be inserted later.
    guard other.registry === registry, !other.isDeleted else {
      return other.objectID.isTemporaryID && other.refers(to: self, inverse)
    }
    managedObjectContext?.undoRecorder?.note(other)
    if inverse.isToMany, !isNew {
      other.takeBackInverse(inverse) { $0.takeBackRemoval(of: self) }
    } else if isNew && !other.isInserted || !other.refers(to: self, inverse) {
      other.takeInverseAgain(self, inverse)
    }
    return true
  }

  /// Whether it refers to another object. Of a to-many relationship, only members added since the last save count.
  private final func refers(to other: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
    guard !values.isEmpty, let place = layout.place(of: relationship) else { return false }
    return switch values[place] {
    case .object(let object): object === other
    case .members(let members): members.hasAdded(other)
    default: false
    }
  }

  /// Reads the row again if the value at `place` is unchanged here, because somebody else may have changed it.
  ///
  /// A deleted object keeps the row to which its delete rules were applied, with which the save compares the store's.
  private final func refreshUnchanged(at place: Int) {
    guard snapshot != nil, !isDeleted, !hasChanged(at: place), let context = managedObjectContext else { return }
    context.persistentStoreCoordinator?.rowsMayBeStale([objectID])
    // A row that is gone refers to nothing.
    try? refresh(context)
  }

  /// Has the members of a to-many relationship read again. The relationship keeps its changes.
  final func forget(_ members: RelatedObjects, at place: Int) {
    put(members.hasChanges ? .members(members.unfired()) : .fault, at: place)
  }

  // MARK: Taking back

  /// Restores the committed value of a relationship that has an inverse, and its other end.
  final func takeBackRelationship(at place: Int) {
    guard hasChanged(at: place), let relationship = layout.slots[place].relationship,
      let inverse = relationship.inverseRelationship
    else { return }
    guard case .members(let members) = values[place] else {
      let (now, old) = (
        toOne(at: place), snapshot?.values[place].objectID.flatMap { managedObjectContext?.object(with: $0) }
      )
      put(snapshot?.values[place] ?? .null, at: place)
      if inverse.isToMany {
        now?.takeBackInverse(inverse) { $0.takeBackAddition(of: self) }
        old?.takeBackInverse(inverse) { $0.takeBackRemoval(of: self) }
      } else {
        now?.dropInverse(self, inverse)
        old?.takeInverse(self, of: layout.slots[place])
      }
      return
    }
    for object in members.added {
      members.takeBackAddition(of: object)
      object.takeBackInverse(inverse) { $0.takeBackAddition(of: self) }
    }
    for object in members.removed {
      members.takeBackRemoval(of: object)
      object.takeBackInverse(inverse) { $0.takeBackRemoval(of: self) }
    }
  }

  final func takeBackInverse(_ inverse: NSRelationshipDescription, _ takeBack: (RelatedObjects) -> Void) {
    if inverse.isToMany {
      guard let members = changedMembers(inverse) else { return }
      noteEvent()
      takeBack(members)
    } else if let place = layout.place(of: inverse), hasChanged(at: place) {
      noteEvent()
      takeBackRelationship(at: place)
    }
  }

  /// The members of a to-many relationship, if any were added or removed.
  private final func changedMembers(_ relationship: NSRelationshipDescription) -> RelatedObjects? {
    guard let place = layout.place(of: relationship), hasChanged(at: place),
      case .members(let members) = values[place]
    else { return nil }
    return members
  }

  // MARK: The other end, given up

  /// Removes the reference to `other`, because `other` does not refer to this object any more.
  ///
  /// - Parameter isOutdated: whether somebody else may have made this object refer to `other` since its row was read.
  final func dropInverse(_ other: NSManagedObject, _ inverse: NSRelationshipDescription, isOutdated: Bool = false) {
    guard let place = layout.place(of: inverse) else { return }
    let isOutdated = isOutdated || other.isDeleted
    if inverse.isToMany {
      noteEvent()
      let members = relatedObjectsSoFar(at: place)
      // Somebody else may have made `other` a member since the members were read.
      guard members.remove(other) || isOutdated && members.noteRemoval(of: other) else { return }
    } else {
      fireFault(inverse.name)
      guard !isFault else { return }
      if isOutdated, values[place].objectID != other.objectID { refreshUnchanged(at: place) }
      guard values[place].objectID == other.objectID else { return }
      change(at: place, to: .null)
    }
    noteChange()
  }
}

extension NSManagedObjectContext {
  /// The identifiers of members that a store has, except for those whose deletion has not been saved yet if the
  /// relationship has no inverse.
  fileprivate func present(
    _ ids: [NSManagedObjectID], _ relationship: NSRelationshipDescription
  ) -> [NSManagedObjectID] {
    relationship.inverseRelationship == nil ? ids.filter { registry[$0]?.isDeleted != true } : ids
  }
}

extension NSManagedObject {
  /// A set that follows a to-many relationship, and whose changes change the relationship. Adding and removing objects
  /// does not read the relationship; it fires the faults of these objects if the inverse is a to-one relationship. In
  /// an ordered relationship objects are added at the end. The set's `count` and `contains(_:)` read the identifiers
  /// of the members, and make no objects.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    checkQueue()
    let (relationship, place) = toMany(key)
    return MutableMembers(self, relationship, place)
  }

  /// An ordered set that follows an ordered relationship, and whose changes change the relationship. Reads the
  /// relationship.
  ///
  /// - Complexity: O(number of members), unless the ordered set is in use already. A change at the end of the ordered
  ///   set takes constant time, and one at another place O(number of members), with a small factor. Methods that change
  ///   many members take O(number of members) in all.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    checkQueue()
    let (relationship, place) = toMany(key)
    require(relationship.isOrdered, "\(key) is not ordered: use mutableSetValue(forKey:).")
    fireFault(key)
    let members = members(of: relationship, at: place)
    if let proxy = members.proxy { return proxy }
    let proxy = MutableOrderedMembers(self, relationship, place)
    // First, because Foundation asks the proxy for its count while members are added.
    members.proxy = proxy
    proxy.show(members.elements)
    return proxy
  }

  private final func toMany(_ key: String) -> (NSRelationshipDescription, Int) {
    guard let place = layout.place(of: key), case .toMany(let relationship) = layout.slots[place].kind else {
      fatalError("The entity \(entity.name ?? "") has no to-many relationship \"\(key)\".")
    }
    return (relationship, place)
  }
}
