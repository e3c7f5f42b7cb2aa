import Foundation

/// The objects of a to-many relationship: all of them, or, before the store was asked, those added and removed since the last save.
package final class RelatedObjects {
  let isOrdered: Bool
  /// Nil before the store was asked.
  private(set) var members: ObjectList?
  /// Those added and removed since the last save, in the order of that. Before the store was asked, some of them may be in the store
  /// already, or not at all.
  private(set) var added = ObjectList()
  private(set) var removed = ObjectList()
  /// Whether the order has changed since the last save.
  private(set) var isReordered = false
  /// The order that the members are to have once the store was asked again.
  private(set) var wanted: ObjectList?
  /// What the application was given, as long as it is true.
  private var given: AnyObject?
  /// What shows and changes the members in place, as long as somebody has it.
  weak var proxy: MutableOrderedMembers?

  /// - Parameter members: nil if the store is to be asked.
  init(isOrdered: Bool, members: ObjectList? = nil) {
    self.isOrdered = isOrdered
    self.members = members
  }

  var isFault: Bool { members == nil }
  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// The members; before the store was asked, those added.
  var elements: [NSManagedObject] { members?.elements ?? added.elements }
  var count: Int { members?.count ?? added.count }

  /// Whether the object is a member. Before the store was asked, whether it is known to be one.
  func contains(_ object: NSManagedObject) -> Bool { members?.contains(object) ?? added.contains(object) }

  /// An `NSOrderedSet` or an `NSSet` of the members, made once after each change.
  var collection: AnyObject {
    if let given { return given }
    let made: AnyObject = isOrdered ? NSOrderedSet(array: elements) : NSSet(array: elements)
    given = made
    return made
  }

  // MARK: Asking the store

  /// Takes what the store has, without those removed since, and with those added behind it.
  func fire(_ stored: [NSManagedObject]) {
    let stored = ObjectList(stored)
    for object in added where stored.contains(object) { added.remove(object) }
    for object in removed where !stored.contains(object) { removed.remove(object) }
    let members =
      hasChanges ? ObjectList(stored.elements.filter { !removed.contains($0) } + added.elements) : stored
    self.members = members
    if let wanted {
      self.wanted = nil
      let rest = members.elements.filter { !wanted.contains($0) }
      reorder(wanted.elements.filter { members.contains($0) } + rest)
    }
    hasChanged()
  }

  /// Another with the same changes, for which the store is to be asked again.
  func unfired() -> RelatedObjects {
    let other = RelatedObjects(isOrdered: isOrdered)
    (other.added, other.removed) = (added, removed)
    if isReordered { (other.isReordered, other.wanted) = (true, members ?? wanted) }
    return other
  }

  /// What was added and removed is in the store now.
  func commit() {
    guard hasChanges else { return }
    added.removeAll()
    removed.removeAll()
    isReordered = false
  }

  // MARK: Changing

  /// Whether anything has changed.
  @discardableResult
  func add(_ object: NSManagedObject) -> Bool {
    if members != nil {
      guard members?.append(object) == true else { return false }
      if removed.remove(object) {
        // It was somewhere else before.
        isReordered = isReordered || isOrdered
      } else {
        added.append(object)
      }
    } else {
      guard added.append(object) else { return false }
      removed.remove(object)
    }
    given = nil
    proxy?.showAddition(of: object)
    return true
  }

  /// Whether anything has changed.
  @discardableResult
  func remove(_ object: NSManagedObject) -> Bool {
    if members != nil {
      guard members?.remove(object) == true else { return false }
      if !added.remove(object) { removed.append(object) }
    } else {
      guard removed.append(object) else { return false }
      added.remove(object)
    }
    given = nil
    proxy?.showRemoval(of: object)
    return true
  }

  /// Has an object removed from the store that is no member as far as is known. Whether anything has changed.
  func noteRemoval(of object: NSManagedObject) -> Bool { removed.append(object) }

  /// Has an object added in the store that is a member already as far as is known.
  func noteAddition(of object: NSManagedObject) {
    removed.remove(object)
    added.append(object)
    members?.append(object)
    hasChanged()
  }

  // MARK: Taking back

  func takeBackAddition(of object: NSManagedObject) {
    guard added.remove(object) else { return }
    members?.remove(object)
    hasChanged()
  }

  /// Of ordered objects the store is asked again where this one was.
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

  /// Puts the members, which are the same as before, in another order.
  func reorder(_ objects: [NSManagedObject]) {
    guard let members, !members.elements.elementsEqual(objects, by: ===) else { return }
    self.members = ObjectList(objects)
    isReordered = true
    hasChanged()
  }

  /// Moves the last member to a place. Takes time in proportion to the members behind that.
  func moveLast(to index: Int) {
    guard let count = members?.count, index < count - 1, let last = members?[count - 1] else { return }
    members?.remove(last)
    members?.insert(last, at: index)
    isReordered = true
    hasChanged()
  }

  private func hasChanged() {
    given = nil
    proxy?.show(elements)
  }
}
