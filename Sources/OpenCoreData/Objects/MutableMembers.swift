import Foundation

/// The result of ``NSManagedObject/mutableSetValue(forKey:)``: reads and changes the members of a relationship in
/// place.
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

  required init(capacity numItems: Int) { fatalError("A set of members belongs to an object.") }

  required convenience init?(coder aDecoder: NSCoder) { nil }

  private var members: RelatedObjects {
    owner.checkQueue()
    owner.fireFault(relationship.name)
    return owner.members(of: relationship, at: place)
  }

  override var count: Int {
    owner.checkQueue()
    return owner.memberCount(of: relationship, at: place)
  }

  override func member(_ object: Any) -> Any? {
    owner.checkQueue()
    owner.fireFault(relationship.name)
    guard let object = object as? NSManagedObject else { return nil }
    return owner.hasMember(object, of: relationship, at: place) ? object : nil
  }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: members.elements).objectEnumerator() }

  override var allObjects: [Any] { members.elements }

  override func copy(with zone: NSZone? = nil) -> Any { members.collection }

  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members.elements) }

  override func add(_ object: Any) {
    let object = checked(object)
    let (name, objects): (String, Set<AnyHashable>) = (relationship.name, [object])
    owner.willChangeValue(forKey: name, withSetMutation: .union, using: objects)
    owner.add(object, relationship, at: place)
    owner.didChangeValue(forKey: name, withSetMutation: .union, using: objects)
  }

  override func remove(_ object: Any) {
    owner.checkQueue()
    guard let object = object as? NSManagedObject else { return }
    let (name, objects): (String, Set<AnyHashable>) = (relationship.name, [object])
    owner.willChangeValue(forKey: name, withSetMutation: .minus, using: objects)
    owner.remove(object, relationship, at: place)
    owner.didChangeValue(forKey: name, withSetMutation: .minus, using: objects)
  }

  override func removeAllObjects() {
    for object in members.elements { remove(object) }
  }

  override var description: String { "\(members.collection)" }

  private func checked(_ object: Any) -> NSManagedObject {
    owner.checkQueue()
    guard let object = object as? NSManagedObject else {
      fatalError("\(relationship.name) relates to objects, and not to \(type(of: object)).")
    }
    owner.check(object, relationship)
    return object
  }
}
