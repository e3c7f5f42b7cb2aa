import Foundation

/// Brings the objects of one conflict of a uniqueness constraint into a state in which they no longer share its values.
///
/// Objects may have been dealt with by another conflict before.
struct ConstraintResolution {
  private let context: NSManagedObjectContext
  private let constraint: [String]
  private let policy: NSMergePolicyType
  /// The object that has the values in the store and does not give them up.
  private var holder: NSManagedObject?
  /// The others that have the values.
  private var rivals: [NSManagedObject]

  /// Nil if nothing is left to be resolved.
  init?(_ conflict: NSConstraintConflict, _ policy: NSMergePolicyType) {
    let rivals = conflict.conflictingObjects.filter { $0.managedObjectContext != nil && !$0.isDeleted }
    guard let context = rivals.first?.managedObjectContext else { return nil }
    self.context = context
    self.policy = policy
    constraint = conflict.constraint
    let holder = conflict.databaseObject.map { context.object(with: $0.objectID) }
    // A store may have listed the object that has the values already among the others.
    self.holder = holder ?? rivals.first { !$0.isInserted && !$0.hasChanged(constraint: conflict.constraint) }
    self.rivals = rivals.filter { [holder = self.holder] in $0 !== holder }
  }

  /// - Throws: what the store throws when the row of the holder is read, unless it is gone.
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

  /// An inserted object is discarded; another one has the values of the constraint again that it had.
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
      noteEvent()
      values[place] = snapshot.values[place]
    }
  }

  /// Has what another object has, which loses its relationships.
  ///
  /// - Parameter withNulls: whether that goes for what the other does not have, too.
  fileprivate final func takeOver(_ other: NSManagedObject, withNulls: Bool) {
    for (source, slot) in other.layout.slots.enumerated() {
      guard let place = layout.place(of: slot.name), layout.slots[place].property === slot.property else { continue }
      switch slot.kind {
      case .attribute(let attribute):
        guard !(attribute is NSDerivedAttributeDescription), withNulls || !other.values[source].isNull else { continue }
        noteEvent()
        values[place] = other.values[source]
        noteChange()
      case .toOne, .toMany:
        // What the other refers to itself by refers to this one.
        let related = other.related(at: source).map { $0 === other ? self : $0 }
        guard withNulls || !related.isEmpty else { continue }
        set(related, at: place)
        other.release(at: source)
      case .fetched: continue
      }
    }
  }

  /// The objects that an inserted object refers to by a relationship.
  fileprivate final func related(at place: Int) -> [NSManagedObject] {
    switch values[place] {
    case .object(let object): [object]
    case .members(let members): members.elements
    default: toOne(at: place).map { [$0] } ?? []
    }
  }

  /// Refers to nothing by a relationship of an inserted object: what was saved refers again to what it did.
  fileprivate final func release(at place: Int) {
    guard let relationship = layout.slots[place].relationship else { return }
    let related = related(at: place)
    values[place] =
      relationship.isToMany
      ? .members(RelatedObjects(isOrdered: relationship.isOrdered, members: ObjectList())) : .null
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
  /// An inserted object is in no context any more, nor are the inserted ones that its deletion reaches. Nothing that was saved is deleted
  /// with it.
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

  /// Relationships without an inverse that refer to objects which are not going to be saved refer to another one, or to what they did.
  fileprivate func redirectReferences(from discarded: [NSManagedObject], to heir: NSManagedObject?) {
    for object in pending.inserted.elements + pending.updated.elements where !object.values.isEmpty {
      for (place, slot) in object.layout.slots.enumerated() {
        guard let relationship = slot.relationship, relationship.inverseRelationship == nil else { continue }
        object.redirect(place, from: discarded, to: heir)
      }
    }
  }
}

extension NSManagedObject {
  fileprivate final func redirect(_ place: Int, from discarded: [NSManagedObject], to heir: NSManagedObject?) {
    switch values[place] {
    case .object(let object) where discarded.contains(object):
      noteEvent()
      values[place] = heir.map { .object($0) } ?? snapshot?.values[place] ?? .null
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
