import Foundation

/// What takes back the changes of an event: for each changed object, how it was before.
struct UndoStep {
  let objects: [ObjectUndo]

  init(_ notes: [ObjectNote], _ context: NSManagedObjectContext) {
    objects = notes.compactMap { ObjectUndo($0, context) }
  }

  /// Whether there is nothing to take back.
  var isEmpty: Bool { objects.allSatisfy(\.isEmpty) }
}

/// What takes back the changes of an object in an event.
///
/// It retains the objects that it refers to, so that they are the same objects later, even if they have been deleted and
/// saved meanwhile.
struct ObjectUndo {
  let object: NSManagedObject
  let wasPresent: Bool
  let isPresent: Bool
  /// Whether the object was to be saved as updated.
  let wasUpdated: Bool
  private(set) var attributes: [(place: Int, value: ManagedValue)] = []
  private(set) var toOnes: [(place: Int, other: NSManagedObject?)] = []
  private(set) var toManys: [(place: Int, members: MembersUndo)] = []

  var isEmpty: Bool { wasPresent == isPresent && attributes.isEmpty && toOnes.isEmpty && toManys.isEmpty }

  /// Nil if nothing has changed, or if the object cannot be read.
  ///
  /// Of an object that is deleted now, all values are kept: no row has them once the deletion is saved. Of an object that
  /// was not there before, only relationships without an inverse are taken back, because delete rules would follow them.
  fileprivate init?(_ note: ObjectNote, _ context: NSManagedObjectContext) {
    object = note.object
    wasPresent = note.presence == .present
    isPresent = object.presence == .present
    wasUpdated = note.change == .updated
    guard wasPresent || isPresent else { return nil }
    if !isPresent || !object.values.isEmpty { try? context.throwingErrorsOfFaults { try object.realise(context) } }
    guard !object.isFault, !object.isInaccessible else { return nil }
    compare(note, context)
    if isEmpty, object.isUpdated == wasUpdated { return nil }
  }

  private mutating func compare(_ note: ObjectNote, _ context: NSManagedObjectContext) {
    let layout = object.layout
    // Setting a primitive value alone is no change.
    let hasChanged = wasPresent != isPresent || object.eventState.isChanged
    for (place, slot) in layout.slots.enumerated() where hasChanged {
      switch slot.kind {
      case .attribute where wasPresent:
        let old = note.value(at: place)
        if !isPresent || !old.isEqual(object.values[place]) { attributes.append((place, old)) }
      case .toOne(let relationship) where isTakenBack(relationship):
        let old = note.value(at: place)
        guard !isPresent || !old.isEqual(object.values[place]) else { continue }
        toOnes.append((place, other: old.object(in: context)))
      case .attribute, .toOne, .toMany, .fetched: continue
      }
    }
    for (number, place) in layout.toManys.enumerated() {
      guard let relationship = layout.slots[place].relationship, isTakenBack(relationship),
        let undo = MembersUndo(
          object, relationship, at: place, before: note.members(number), isComplete: !isPresent, context)
      else { continue }
      toManys.append((place, undo))
    }
  }
}

extension ObjectUndo {
  fileprivate func isTakenBack(_ relationship: NSRelationshipDescription) -> Bool {
    wasPresent || relationship.inverseRelationship == nil
  }
}

/// What takes back the changes of a to-many relationship.
struct MembersUndo {
  /// The objects that have become members, and those that are no longer members.
  let joined: [NSManagedObject]
  let left: [NSManagedObject]
  /// Whether `left` has all former members, and there are no others.
  let isComplete: Bool
  /// The members in their order before; nil if the relationship is not ordered, or its order is as before.
  let order: [NSManagedObject]?

  /// Nil if nothing has changed. Reads the members of a changed relationship: only then is it known which changes made a
  /// difference.
  ///
  /// - Parameters:
  ///   - before: nil if the members were not read, and had not changed.
  ///   - isComplete: whether all former members are kept, although they may still be members.
  fileprivate init?(
    _ owner: NSManagedObject, _ relationship: NSRelationshipDescription, at place: Int, before: RelatedObjects?,
    isComplete: Bool, _ context: NSManagedObjectContext
  ) {
    let before = before ?? RelatedObjects(isOrdered: relationship.isOrdered)
    if !isComplete {
      guard case .members(let now) = owner.values[place], !now.hasSameChanges(as: before) else { return nil }
    }
    try? context.throwingErrorsOfFaults { _ = owner.members(of: relationship, at: place) }
    let now = owner.relatedObjectsSoFar(at: place)
    if before.isFault {
      let ids = try? context.relatedIDs(relationship, of: owner.objectID)
      before.fire(context.objects(with: ids ?? []))
    }
    joined = now.elements.filter { other in
      guard !before.contains(other) else { return false }
      // Without an inverse, an object that is no longer deleted becomes a member again by itself.
      return relationship.inverseRelationship != nil || now.hasAdded(other) || before.hasRemoved(other)
    }
    left = isComplete ? before.elements : before.elements.filter { !now.contains($0) }
    let isMoved =
      isComplete || !joined.isEmpty || !left.isEmpty
      || !before.elements.filter(now.contains).elementsEqual(now.elements.filter(before.contains), by: ===)
    order = relationship.isOrdered && isMoved ? before.elements : nil
    self.isComplete = isComplete
    if joined.isEmpty, left.isEmpty, order == nil, !isComplete { return nil }
  }

  /// The present members that are to leave the relationship, and the objects that are to become members.
  func difference(from members: RelatedObjects) -> (leaving: [NSManagedObject], joining: [NSManagedObject]) {
    let kept = ObjectList(left)
    let leaving = isComplete ? members.elements.filter { !kept.contains($0) } : joined.filter(members.contains)
    return (leaving, left.filter { !members.contains($0) })
  }
}

extension ManagedValue {
  /// The object at the other end of a to-one relationship.
  fileprivate func object(in context: NSManagedObjectContext) -> NSManagedObject? {
    switch self {
    case .object(let object): object
    case .reference(let id): context.object(with: id)
    default: nil
    }
  }
}
