import Foundation

/// The objects of a to-many relationship: all of them, or, before they are read from the store, those added and removed
/// since the last save.
package final class RelatedObjects {
  let isOrdered: Bool
  /// The application's code runs while the state changes only where an object is freed, and then sees the new state: the
  /// compiler need not have each access checked.
  @exclusivity(unchecked) private var state: State
  /// The ordered set that shows and changes the members in place, as long as something refers to it.
  weak var proxy: MutableOrderedMembers?

  private struct State {
    /// Nil before the members are read from the store.
    var members: ObjectList?
    /// The identifiers of the store's members, if they have been read and the members have not.
    var stored: StoredMembers?
    /// The objects added and removed since the last save, each in the order of these changes. Before the members are
    /// read, some of the added ones may be in the store already, and some of the removed ones may not be in the store.
    var added = ObjectList()
    var removed = ObjectList()
    /// Whether the order has changed since the last save.
    var isReordered = false
    /// The order that the members are to have once they are read from the store again.
    var wanted: ObjectList?
    /// How often anything here has changed.
    var edits: UInt32 = 0
    /// The collection that the application was given; nil once it is out of date.
    var given: AnyObject?

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }
    /// The members; before they are read, those added.
    var elements: [NSManagedObject] { members?.elements ?? added.elements }

    mutating func noteEdit() {
      given = nil
      edits &+= 1
    }
  }

  /// - Parameter members: nil if they are to be read from the store.
  init(isOrdered: Bool, members: ObjectList? = nil) {
    self.isOrdered = isOrdered
    unsafe state = State(members: members)
  }

  private init(isOrdered: Bool, _ state: State) {
    self.isOrdered = isOrdered
    unsafe self.state = state
  }

  var members: ObjectList? { unsafe state.members }
  var stored: StoredMembers? { unsafe state.stored }
  var added: ObjectList { unsafe state.added }
  var removed: ObjectList { unsafe state.removed }
  var isReordered: Bool { unsafe state.isReordered }
  var wanted: ObjectList? { unsafe state.wanted }
  var edits: UInt32 { unsafe state.edits }
  var isFault: Bool { unsafe state.members == nil }
  var hasChanges: Bool { unsafe state.hasChanges }
  var elements: [NSManagedObject] { unsafe state.elements }
  var count: Int { unsafe state.members?.count ?? state.added.count }

  /// Whether the object is a member; before the members are read, whether it is known to be one.
  func contains(_ object: NSManagedObject) -> Bool {
    unsafe state.members?.contains(object) ?? state.added.contains(object)
  }

  /// Whether the object was added since the last save, as far as is known.
  func hasAdded(_ object: NSManagedObject) -> Bool { unsafe state.added.contains(object) }

  /// Whether the object was removed since the last save, as far as is known.
  func hasRemoved(_ object: NSManagedObject) -> Bool { unsafe state.removed.contains(object) }

  /// An `NSOrderedSet` or an `NSSet` of the members, made once after each change.
  var collection: AnyObject {
    if let given = unsafe state.given { return given }
    let made: AnyObject = isOrdered ? NSOrderedSet(array: elements) : elements.set
    unsafe state.given = made
    return made
  }

  // MARK: Asking the store

  /// Keeps the identifiers of the store's members. The members will be the objects with these identifiers.
  func take(_ stored: StoredMembers) { unsafe state.stored = stored }

  /// Has the identifiers of the store's members read again.
  func forgetStored() { unsafe state.stored = nil }

  /// Takes the members from the store, drops those removed since, and appends those added since.
  func fire(_ stored: [NSManagedObject]) {
    var state = unsafe self.state
    let stored = ObjectList(stored)
    for object in state.added where stored.contains(object) { state.added.remove(object) }
    // The store may have objects that are deleted here.
    for object in state.removed where !stored.contains(object) && object.state.change != .deleted {
      state.removed.remove(object)
    }
    let removed = state.removed
    let members =
      state.hasChanges
      ? ObjectList(stored.elements.filter { !removed.contains($0) } + state.added.elements) : stored
    (state.members, state.stored) = (members, nil)
    let wanted = state.wanted
    state.wanted = nil
    unsafe self.state = state
    if let wanted {
      let rest = members.elements.filter { !wanted.contains($0) }
      reorder(wanted.elements.filter { members.contains($0) } + rest)
    }
    hasChanged()
  }

  /// A copy with the same changes, whose members are to be read from the store again.
  func unfired() -> RelatedObjects {
    let state = unsafe self.state
    var other = State(added: state.added, removed: state.removed)
    if state.isReordered { (other.isReordered, other.wanted) = (true, state.members ?? state.wanted) }
    return RelatedObjects(isOrdered: isOrdered, other)
  }

  /// Called after a save: the store has the added and removed objects now.
  func commit() {
    guard hasChanges else { return }
    unsafe state.stored = nil
    unsafe state.added.removeAll()
    unsafe state.removed.removeAll()
    unsafe state.isReordered = false
  }

  // MARK: Undo

  /// A copy with the same members and changes.
  func copy() -> RelatedObjects {
    var other = unsafe state
    (other.stored, other.edits, other.given) = (nil, 0, nil)
    return RelatedObjects(isOrdered: isOrdered, other)
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
    let (removed, added) = (removed, added)
    unsafe state.isReordered =
      !elements.elementsEqual(stored.filter { !removed.contains($0) } + added.elements, by: ===)
  }

  // MARK: Changing

  /// Returns whether anything has changed.
  @discardableResult
  func add(_ object: NSManagedObject) -> Bool {
    if isFault {
      guard unsafe state.added.append(object) else { return false }
      unsafe state.removed.remove(object)
    } else {
      guard unsafe state.members?.append(object) == true else { return false }
      if unsafe state.removed.remove(object) {
        // The object was at another position before.
        if isOrdered { unsafe state.isReordered = true }
      } else {
        unsafe state.added.append(object)
      }
    }
    unsafe state.noteEdit()
    if isOrdered { proxy?.showAddition(of: object) }
    return true
  }

  /// Returns whether anything has changed.
  @discardableResult
  func remove(_ object: NSManagedObject) -> Bool {
    if isFault {
      guard unsafe state.removed.append(object) else { return false }
      unsafe state.added.remove(object)
    } else {
      guard unsafe state.members?.remove(object) == true else { return false }
      if unsafe !state.added.remove(object) { unsafe state.removed.append(object) }
    }
    unsafe state.noteEdit()
    if isOrdered { proxy?.showRemoval(of: object) }
    return true
  }

  /// Records the removal of an object that is not a member as far as is known. Returns whether anything has changed.
  func noteRemoval(of object: NSManagedObject) -> Bool { unsafe state.removed.append(object) }

  /// Records the addition of an object that is a member already as far as is known.
  func noteAddition(of object: NSManagedObject) {
    unsafe state.removed.remove(object)
    unsafe state.added.append(object)
    unsafe state.members?.append(object)
    hasChanged()
  }

  /// Drops an object that is deleted, which is no change of the relationship.
  func drop(_ object: NSManagedObject) {
    unsafe state.stored = nil
    unsafe state.added.remove(object)
    unsafe state.members?.remove(object)
    hasChanged()
  }

  /// Drops objects without recording a change.
  func drop(where isDropped: (NSManagedObject) -> Bool) {
    unsafe state.stored = nil
    let dropped = elements.filter(isDropped) + removed.filter(isDropped)
    guard !dropped.isEmpty else { return }
    for object in dropped {
      unsafe state.members?.remove(object)
      unsafe state.added.remove(object)
      unsafe state.removed.remove(object)
      unsafe state.wanted?.remove(object)
    }
    hasChanged()
  }

  // MARK: Taking back

  func takeBackAddition(of object: NSManagedObject) {
    guard unsafe state.added.remove(object) else { return }
    unsafe state.members?.remove(object)
    hasChanged()
  }

  /// Discards the members of an ordered relationship, because only the store knows the position of the object.
  func takeBackRemoval(of object: NSManagedObject) {
    guard unsafe state.removed.remove(object) else { return }
    if isOrdered {
      unsafe state.wanted = isReordered ? members : nil
      unsafe state.members = nil
    } else {
      unsafe state.members?.append(object)
    }
    hasChanged()
  }

  // MARK: Order

  subscript(index: Int) -> NSManagedObject? { unsafe state.members?[index] }

  func index(of object: NSManagedObject) -> Int? { unsafe state.members?.index(of: object) }

  /// Puts the members in another order. The objects must be the same as before.
  func reorder(_ objects: [NSManagedObject]) {
    guard let members, !members.elements.elementsEqual(objects, by: ===) else { return }
    unsafe state.members = ObjectList(objects)
    unsafe state.isReordered = true
    hasChanged()
  }

  /// Moves the last member to a place. Takes time proportional to the number of members after that place.
  func moveLast(to index: Int) {
    guard let count = members?.count, index < count - 1, let last = self[count - 1] else { return }
    unsafe state.members?.remove(last)
    unsafe state.members?.insert(last, at: index)
    unsafe state.isReordered = true
    unsafe state.noteEdit()
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

  private func hasChanged() {
    unsafe state.noteEdit()
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
