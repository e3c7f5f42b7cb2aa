import Foundation

/// The objects of a to-many relationship: all of them, or, before the store was asked, those added and removed since the last save.
final class RelatedObjects {
  let isOrdered: Bool
  /// Nil before the store was asked.
  private(set) var members: ObjectList?
  /// Those added and removed since the last save, in the order of that.
  private(set) var added = ObjectList()
  private(set) var removed = ObjectList()
  /// Whether the order has changed since the last save.
  private(set) var isReordered = false
  /// What the application was given, as long as it is true.
  private var given: AnyObject?

  /// - Parameter members: nil if the store is to be asked.
  init(isOrdered: Bool, members: ObjectList? = nil) {
    self.isOrdered = isOrdered
    self.members = members
  }

  var isFault: Bool { members == nil }
  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Takes what the store has, without those removed since, and with those added behind it.
  func fire(_ stored: some Sequence<NSManagedObject>) {
    var members = ObjectList()
    for object in stored where !removed.contains(object) { members.append(object) }
    for object in added.elements { members.append(object) }
    self.members = members
    given = nil
  }

  /// Whether the object is known to be a member. Of those that the store was not asked for it is not known.
  func contains(_ object: NSManagedObject) -> Bool {
    members?.contains(object) ?? added.contains(object)
  }

  /// Whether anything has changed.
  @discardableResult
  func add(_ object: NSManagedObject) -> Bool {
    if members?.append(object) == false { return false }
    if !removed.remove(object), !added.append(object) { return false }
    given = nil
    return true
  }

  /// Whether anything has changed.
  @discardableResult
  func remove(_ object: NSManagedObject) -> Bool {
    if members?.remove(object) == false { return false }
    if !added.remove(object), !removed.append(object) { return false }
    given = nil
    return true
  }

  // MARK: Ordered

  func index(of object: NSManagedObject) -> Int? { members?.index(of: object) }

  /// Puts the members, which are the same as before, in another order.
  func reorder(_ objects: [NSManagedObject]) {
    guard let members, !members.elements.elementsEqual(objects, by: ===) else { return }
    self.members = ObjectList(objects)
    isReordered = true
    given = nil
  }

  /// Moves the last member to a place.
  func moveLast(to index: Int) {
    guard var members, index < members.count - 1, let last = members.elements.last else { return }
    members.remove(last)
    members.insert(last, at: index)
    self.members = members
    isReordered = true
    given = nil
  }

  // MARK: Saved

  /// What was added and removed is in the store now.
  func commit() {
    added.removeAll()
    removed.removeAll()
    isReordered = false
  }

  /// Another with the same changes, for which the store is to be asked again.
  func unfired() -> RelatedObjects {
    let other = RelatedObjects(isOrdered: isOrdered)
    (other.added, other.removed) = (added, removed)
    return other
  }

  /// The members; before the store was asked, those added.
  var elements: [NSManagedObject] { members?.elements ?? added.elements }
  var count: Int { members?.count ?? added.count }

  /// An `NSOrderedSet` or an `NSSet` of the members, made once after each change.
  var collection: AnyObject {
    if let given { return given }
    let made: AnyObject = isOrdered ? NSOrderedSet(array: elements) : NSSet(array: elements)
    given = made
    return made
  }
}
