import Foundation

/// The objects of a to-many relationship: all of them, or, before they are read from the store, those added and removed
/// since the last save.
package final class RelatedObjects {
  let isOrdered: Bool
  /// Nil before the members are read from the store.
  private(set) var members: ObjectList?
  /// The identifiers of the store's members, if they have been read and the members have not.
  private(set) var stored: StoredMembers?
  /// The objects added and removed since the last save, each in the order of these changes. Before the members are
  /// read, some of the added ones may be in the store already, and some of the removed ones may not be in the store.
  private(set) var added = ObjectList()
  private(set) var removed = ObjectList()
  /// Whether the order has changed since the last save.
  private(set) var isReordered = false
  /// The order that the members are to have once they are read from the store again.
  private(set) var wanted: ObjectList?
  /// How often anything here has changed.
  private(set) var edits: UInt32 = 0
  /// The collection that the application was given; nil once it is out of date.
  private var given: AnyObject?
  /// The ordered set that shows and changes the members in place, as long as something refers to it.
  weak var proxy: MutableOrderedMembers?

  /// - Parameter members: nil if they are to be read from the store.
  init(isOrdered: Bool, members: ObjectList? = nil) {
    self.isOrdered = isOrdered
    self.members = members
  }

  var isFault: Bool { members == nil }
  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// The members; before they are read, those added.
  var elements: [NSManagedObject] { members?.elements ?? added.elements }
  var count: Int { members?.count ?? added.count }

  /// Whether the object is a member; before the members are read, whether it is known to be one.
  func contains(_ object: NSManagedObject) -> Bool { members?.contains(object) ?? added.contains(object) }

  /// An `NSOrderedSet` or an `NSSet` of the members, made once after each change.
  var collection: AnyObject {
    if let given { return given }
    let made: AnyObject = isOrdered ? NSOrderedSet(array: elements) : elements.set
    given = made
    return made
  }

  // MARK: Asking the store

  /// Keeps the identifiers of the store's members. The members will be the objects with these identifiers.
  func take(_ stored: StoredMembers) { self.stored = stored }

  /// Has the identifiers of the store's members read again.
  func forgetStored() { stored = nil }

  /// Takes the members from the store, drops those removed since, and appends those added since.
  func fire(_ stored: [NSManagedObject]) {
    let stored = ObjectList(stored)
    for object in added where stored.contains(object) { added.remove(object) }
    // The store may have objects that are deleted here.
    for object in removed where !stored.contains(object) && object.state.change != .deleted { removed.remove(object) }
    let members =
      hasChanges ? ObjectList(stored.elements.filter { !removed.contains($0) } + added.elements) : stored
    self.members = members
    self.stored = nil
    if let wanted {
      self.wanted = nil
      let rest = members.elements.filter { !wanted.contains($0) }
      reorder(wanted.elements.filter { members.contains($0) } + rest)
    }
    hasChanged()
  }

  /// A copy with the same changes, whose members are to be read from the store again.
  func unfired() -> RelatedObjects {
    let other = RelatedObjects(isOrdered: isOrdered)
    (other.added, other.removed) = (added, removed)
    if isReordered { (other.isReordered, other.wanted) = (true, members ?? wanted) }
    return other
  }

  /// Called after a save: the store has the added and removed objects now.
  func commit() {
    guard hasChanges else { return }
    stored = nil
    added.removeAll()
    removed.removeAll()
    isReordered = false
  }

  // MARK: Undo

  /// A copy with the same members and changes.
  func copy() -> RelatedObjects {
    let other = RelatedObjects(isOrdered: isOrdered, members: members)
    (other.added, other.removed) = (added, removed)
    (other.isReordered, other.wanted) = (isReordered, wanted)
    return other
  }

  /// Whether the same changes have been made as to `other`, which may have been read when these were not, or vice
  /// versa.
  ///
  /// - Complexity: O(number of changes), and for an ordered relationship O(number of members).
  func hasSameChanges(as other: RelatedObjects) -> Bool {
    guard isReordered == other.isReordered, added.isEqual(other.added), removed.isEqual(other.removed) else {
      return false
    }
    guard let members, let others = other.members else { return true }
    return isOrdered ? members.isEqual(others) : members.count == others.count
  }

  /// Notes whether the order differs from the store's order with the added members at the end.
  func compareOrder(with stored: [NSManagedObject]) {
    isReordered = !elements.elementsEqual(stored.filter { !removed.contains($0) } + added.elements, by: ===)
  }

  // MARK: Changing

  /// Returns whether anything has changed.
  @discardableResult
  func add(_ object: NSManagedObject) -> Bool {
    if members != nil {
      guard members?.append(object) == true else { return false }
      if removed.remove(object) {
        // The object was at another position before.
        isReordered = isReordered || isOrdered
      } else {
        added.append(object)
      }
    } else {
      guard added.append(object) else { return false }
      removed.remove(object)
    }
    noteEdit()
    proxy?.showAddition(of: object)
    return true
  }

  /// Returns whether anything has changed.
  @discardableResult
  func remove(_ object: NSManagedObject) -> Bool {
    if members != nil {
      guard members?.remove(object) == true else { return false }
      if !added.remove(object) { removed.append(object) }
    } else {
      guard removed.append(object) else { return false }
      added.remove(object)
    }
    noteEdit()
    proxy?.showRemoval(of: object)
    return true
  }

  /// Records the removal of an object that is not a member as far as is known. Returns whether anything has changed.
  func noteRemoval(of object: NSManagedObject) -> Bool { removed.append(object) }

  /// Records the addition of an object that is a member already as far as is known.
  func noteAddition(of object: NSManagedObject) {
    removed.remove(object)
    added.append(object)
    members?.append(object)
    hasChanged()
  }

  /// Drops an object that is deleted, which is no change of the relationship.
  func drop(_ object: NSManagedObject) {
    stored = nil
    added.remove(object)
    members?.remove(object)
    hasChanged()
  }

  /// Drops objects without recording a change.
  func drop(where isDropped: (NSManagedObject) -> Bool) {
    stored = nil
    let dropped = elements.filter(isDropped) + removed.filter(isDropped)
    guard !dropped.isEmpty else { return }
    for object in dropped {
      members?.remove(object)
      added.remove(object)
      removed.remove(object)
      wanted?.remove(object)
    }
    hasChanged()
  }

  // MARK: Taking back

  func takeBackAddition(of object: NSManagedObject) {
    guard added.remove(object) else { return }
    members?.remove(object)
    hasChanged()
  }

  /// Discards the members of an ordered relationship, because only the store knows the position of the object.
  func takeBackRemoval(of object: NSManagedObject) {
    guard removed.remove(object) else { return }
    if isOrdered {
      wanted = isReordered ? members : nil
      members = nil
    } else {
      members?.append(object)
    }
    hasChanged()
  }

  // MARK: Order

  subscript(index: Int) -> NSManagedObject? { members?[index] }

  func index(of object: NSManagedObject) -> Int? { members?.index(of: object) }

  /// Puts the members in another order. The objects must be the same as before.
  func reorder(_ objects: [NSManagedObject]) {
    guard let members, !members.elements.elementsEqual(objects, by: ===) else { return }
    self.members = ObjectList(objects)
    isReordered = true
    hasChanged()
  }

  /// Moves the last member to a place. Takes time proportional to the number of members after that place.
  func moveLast(to index: Int) {
    guard let count = members?.count, index < count - 1, let last = members?[count - 1] else { return }
    members?.remove(last)
    members?.insert(last, at: index)
    isReordered = true
    noteEdit()
    proxy?.showMoveOfLast(to: index)
  }

  /// Makes many changes, and shows their result once.
  func change(_ body: () -> Void) {
    let shown = proxy
    proxy = nil
    body()
    proxy = shown
    proxy?.show(elements)
  }

  private func noteEdit() {
    given = nil
    edits &+= 1
  }

  private func hasChanged() {
    noteEdit()
    proxy?.show(elements)
  }
}

/// The identifiers of the members that a store has for a relationship.
struct StoredMembers {
  /// The identifiers in the store's order.
  let ids: [NSManagedObjectID]
  private let set: Set<NSManagedObjectID>

  init(_ ids: [NSManagedObjectID]) { (self.ids, set) = (ids, Set(ids)) }

  func contains(_ object: NSManagedObject) -> Bool { set.contains(object.objectID) }
}

extension [NSManagedObject] {
  /// A set of the objects. `NSSet(array:)` would convert each of them to `Any` and back.
  fileprivate var set: NSSet {
    unsafe withUnsafeBufferPointer { objects in
      unsafe objects.withMemoryRebound(to: AnyObject.self) { unsafe NSSet(objects: $0.baseAddress, count: $0.count) }
    }
  }
}
