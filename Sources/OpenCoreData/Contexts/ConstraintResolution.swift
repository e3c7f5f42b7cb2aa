import Foundation

/// Changes the objects of one uniqueness-constraint conflict so that they no longer share the constraint's values.
///
/// An earlier conflict may already have dealt with some of the objects.
struct ConstraintResolution {
  private let context: NSManagedObjectContext
  private let constraint: [String]
  private let policy: NSMergePolicyType
  /// The object that has the values in the store and keeps them; nil if there is none.
  private var holder: NSManagedObject?
  /// The other objects that have the values.
  private var rivals: [NSManagedObject]

  /// Nil if nothing is left to resolve.
  init?(_ conflict: NSConstraintConflict, _ policy: NSMergePolicyType) {
    let rivals = conflict.conflictingObjects.filter { $0.managedObjectContext != nil && !$0.isDeleted }
    guard let context = rivals.first?.managedObjectContext else { return nil }
    self.context = context
    self.policy = policy
    constraint = conflict.constraint
    let holder = conflict.databaseObject.map { context.object(with: $0.objectID) }
    // The store may have listed the object that already has the values among the others.
    self.holder = holder ?? rivals.first { !$0.isInserted && !$0.hasChanged(constraint: conflict.constraint) }
    self.rivals = rivals.filter { [holder = self.holder] in $0 !== holder }
  }

  /// - Throws: the store's error when the row of the holder is read, unless the row is gone.
  func resolve() throws {
    guard let first = rivals.first else { return }
    guard let holder else {
      for object in rivals.dropFirst() { giveWay(object) }
      return
    }
    guard !holder.isDeleted, try exists(holder) else { return }
    guard policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType else {
      for object in rivals { giveWay(object) }
      return
    }
    for object in rivals.dropFirst() { giveWay(object) }
    if first.isInserted {
      holder.takeOver(first, withNulls: policy == .overwriteMergePolicyType)
      context.redirectReferences(from: [first], to: holder)
      context.discard(first)
    } else {
      context.delete(holder)
    }
  }

  /// Discards an inserted object; gives any other object back its former values of the constraint.
  private func giveWay(_ object: NSManagedObject) {
    if object.isInserted {
      context.discard(object)
    } else {
      object.takeBack(constraint: constraint)
    }
  }

  private func exists(_ object: NSManagedObject) throws -> Bool {
    do {
      try object.realise(context)
      return true
    } catch {
      guard StoreCalls.isMissing(error) else { throw error }
      return false
    }
  }
}

extension NSManagedObject {
  fileprivate final func hasChanged(constraint: [String]) -> Bool {
    constraint.contains { layout.place(of: $0).map(hasChanged) ?? false }
  }

  fileprivate final func takeBack(constraint: [String]) {
    guard let snapshot else { return }
    for place in constraint.compactMap(layout.place) where hasChanged(at: place) {
      takeBackRelationship(at: place)
      change(at: place, to: snapshot.values[place])
    }
  }

  /// Takes over the values of another object, which loses the relationships that are taken over.
  ///
  /// - Parameter withNulls: whether properties that are nil or empty in the other object are taken over, too.
  fileprivate final func takeOver(_ other: NSManagedObject, withNulls: Bool) {
    for (source, slot) in other.layout.slots.enumerated() {
      guard let place = layout.place(of: slot.name), layout.slots[place].property === slot.property else { continue }
      switch slot.kind {
      case .attribute(let attribute):
        guard !(attribute is NSDerivedAttributeDescription), withNulls || !other.values[source].isNull else { continue }
        change(at: place, to: other.values[source])
        noteChange()
      case .toOne, .toMany:
        // A reference of the other object to itself becomes a reference of this object to itself.
        let related = other.related(at: source).map { $0 === other ? self : $0 }
        guard withNulls || !related.isEmpty else { continue }
        set(related, at: place)
        other.release(at: source)
      case .fetched: continue
      }
    }
  }

  /// The objects that an inserted object refers to through a relationship.
  fileprivate final func related(at place: Int) -> [NSManagedObject] {
    switch values[place] {
    case .object(let object): [object]
    case .members(let members): members.elements
    default: toOne(at: place).map { [$0] } ?? []
    }
  }

  /// Empties a relationship of an inserted object. Saved objects at the other end refer again to what they referred to
  /// before.
  fileprivate final func release(at place: Int) {
    guard let relationship = layout.slots[place].relationship else { return }
    let related = related(at: place)
    put(
      relationship.isToMany
        ? .members(RelatedObjects(isOrdered: relationship.isOrdered, members: ObjectList())) : .null,
      at: place)
    guard let inverse = relationship.inverseRelationship else { return }
    for other in related where other !== self {
      if other.isInserted {
        other.dropInverse(self, inverse)
      } else {
        other.takeBackInverse(inverse) { $0.takeBackAddition(of: self) }
      }
    }
  }
}

extension NSManagedObjectContext {
  /// Removes an inserted object from the context, together with the inserted objects that its cascade rules reach.
  /// Deletes no saved object.
  fileprivate func discard(_ object: NSManagedObject) {
    var discarded = ObjectList([object])
    var waiting = [object]
    while let next = waiting.popLast() {
      for (place, slot) in next.layout.slots.enumerated()
      where slot.relationship?.deleteRule == .cascadeDeleteRule {
        for other in next.related(at: place) where other.isInserted && discarded.append(other) { waiting.append(other) }
      }
    }
    redirectReferences(from: discarded.elements, to: nil)
    for object in discarded {
      for place in object.layout.slots.indices { object.release(at: place) }
    }
    for object in discarded { delete(object) }
    propagateDeletions()
  }

  /// In relationships without an inverse, replaces references to discarded objects by references to `heir`; if it is
  /// nil, by the relationship's former objects.
  fileprivate func redirectReferences(from discarded: [NSManagedObject], to heir: NSManagedObject?) {
    // Most models have no such relationships. Walking all unsaved objects for each conflict would take long.
    guard let entities = persistentStoreCoordinator?.managedObjectModel.entities,
      entities.contains(where: { !$0.layout.withoutInverse.isEmpty })
    else { return }
    for object in pending.inserted.elements + pending.updated.elements where !object.values.isEmpty {
      for place in object.layout.withoutInverse { object.redirect(place, from: discarded, to: heir) }
    }
  }
}

extension NSManagedObject {
  fileprivate final func redirect(_ place: Int, from discarded: [NSManagedObject], to heir: NSManagedObject?) {
    switch values[place] {
    case .object(let object) where discarded.contains(object):
      change(at: place, to: heir.map { .object($0) } ?? snapshot?.values[place] ?? .null)
    case .members(let members):
      for object in discarded where members.contains(object) {
        noteEvent()
        members.takeBackAddition(of: object)
        if let heir { members.add(heir) }
      }
    default: break
    }
  }
}
