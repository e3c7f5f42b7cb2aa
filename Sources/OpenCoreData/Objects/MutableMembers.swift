import Foundation

/// What ``NSManagedObject/mutableSetValue(forKey:)`` gives: reads and changes the members of a relationship in place.
final class MutableMembers: NSMutableSet {
  private let owner: NSManagedObject
  private let relationship: NSRelationshipDescription
  private let place: Int

  init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription, _ place: Int) {
    self.owner = owner
    self.relationship = relationship
    self.place = place
    super.init(capacity: 0)
  }

  required init(capacity numItems: Int) { preconditionFailure("A set of members belongs to an object.") }

  required convenience init?(coder aDecoder: NSCoder) { nil }

  private var members: RelatedObjects {
    owner.checkQueue()
    owner.fireFault(relationship.name)
    return owner.members(of: relationship, at: place)
  }

  override var count: Int { members.count }

  override func member(_ object: Any) -> Any? {
    (object as? NSManagedObject).flatMap { members.contains($0) ? $0 : nil }
  }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: members.elements).objectEnumerator() }

  override var allObjects: [Any] { members.elements }

  override func copy(with zone: NSZone? = nil) -> Any { members.collection }

  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members.elements) }

  override func add(_ object: Any) {
    let object = checked(object)
    owner.willChangeValue(forKey: relationship.name, withSetMutation: .union, using: [object])
    owner.add(object, relationship, at: place)
    owner.didChangeValue(forKey: relationship.name, withSetMutation: .union, using: [object])
  }

  override func remove(_ object: Any) {
    let object = checked(object)
    owner.willChangeValue(forKey: relationship.name, withSetMutation: .minus, using: [object])
    owner.remove(object, relationship, at: place)
    owner.didChangeValue(forKey: relationship.name, withSetMutation: .minus, using: [object])
  }

  override func removeAllObjects() {
    for object in members.elements { remove(object) }
  }

  private func checked(_ object: Any) -> NSManagedObject {
    owner.checkQueue()
    guard let object = object as? NSManagedObject else {
      preconditionFailure("\(relationship.name) relates to objects, and not to \(type(of: object)).")
    }
    owner.check(object, relationship)
    return object
  }
}

/// What ``NSManagedObject/mutableOrderedSetValue(forKey:)`` gives: reads and changes the members of a relationship in place.
final class MutableOrderedMembers: NSMutableOrderedSet {
  private let owner: NSManagedObject
  private let relationship: NSRelationshipDescription
  private let place: Int

  init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription, _ place: Int) {
    self.owner = owner
    self.relationship = relationship
    self.place = place
    super.init(capacity: 0)
  }

  override init(capacity numItems: Int) { preconditionFailure("A set of members belongs to an object.") }

  required init?(coder aDecoder: NSCoder) { nil }

  required convenience init(arrayLiteral elements: Any...) {
    preconditionFailure("A set of members belongs to an object.")
  }

  private var members: RelatedObjects {
    owner.checkQueue()
    owner.fireFault(relationship.name)
    return owner.members(of: relationship, at: place)
  }

  override var count: Int { members.count }

  override func object(at idx: Int) -> Any { members.elements[idx] }

  override func index(of object: Any) -> Int {
    (object as? NSManagedObject).flatMap { members.index(of: $0) } ?? NSNotFound
  }

  override func contains(_ object: Any) -> Bool {
    (object as? NSManagedObject).map { members.contains($0) } ?? false
  }

  override func add(_ object: Any) {
    let object = checked(object)
    change([object]) { owner.add(object, relationship, at: place) }
  }

  override func insert(_ object: Any, at idx: Int) {
    let object = checked(object)
    let members = members
    guard !members.contains(object) else { return }
    precondition(idx <= members.count, "\(idx) is behind the end of \(relationship.name), which has \(members.count).")
    change([object]) {
      owner.add(object, relationship, at: place)
      members.moveLast(to: idx)
    }
  }

  override func removeObject(at idx: Int) {
    let object = members.elements[idx]
    change([object]) { owner.remove(object, relationship, at: place) }
  }

  override func remove(_ object: Any) {
    let object = checked(object)
    change([object]) { owner.remove(object, relationship, at: place) }
  }

  override func replaceObject(at idx: Int, with obj: Any) {
    let (old, new) = (members.elements[idx], checked(obj))
    guard old !== new else { return }
    removeObject(at: idx)
    insert(new, at: Swift.min(idx, members.count))
  }

  override func removeAllObjects() {
    for object in members.elements { remove(object) }
  }

  override func copy(with zone: NSZone? = nil) -> Any { members.collection }

  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members.elements) }

  private func change(_ objects: Set<AnyHashable>, _ body: () -> Void) {
    owner.willChangeValue(forKey: relationship.name, withSetMutation: .set, using: objects)
    body()
    owner.didChangeValue(forKey: relationship.name, withSetMutation: .set, using: objects)
  }

  private func checked(_ object: Any) -> NSManagedObject {
    owner.checkQueue()
    guard let object = object as? NSManagedObject else {
      preconditionFailure("\(relationship.name) relates to objects, and not to \(type(of: object)).")
    }
    owner.check(object, relationship)
    return object
  }
}
