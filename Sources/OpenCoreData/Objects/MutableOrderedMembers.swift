import Foundation

/// The result of ``NSManagedObject/mutableOrderedSetValue(forKey:)``: shows and changes the members of a relationship.
///
/// Foundation answers the calls that cannot be overridden from its own storage, so that storage is kept equal to the
/// members: each change goes to the relationship, which notifies this set. If the relationship has got other members in
/// another way, because changes were rolled back or the row was read again, this set takes them over before it shows or
/// changes anything.
final class MutableOrderedMembers: NSMutableOrderedSet {
  private let owner: NSManagedObject
  private let relationship: NSRelationshipDescription
  private let place: Int
  /// The objects shown, in their order: Foundation finds the index of an object by comparing each with it.
  private var shown: ContiguousArray<ObjectIdentifier> = []

  init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription, _ place: Int) {
    self.owner = owner
    self.relationship = relationship
    self.place = place
    super.init(capacity: 0)
  }

  override init(capacity numItems: Int) { fatalError("An ordered set of members belongs to an object.") }

  required init?(coder aDecoder: NSCoder) { nil }

  required convenience init(arrayLiteral elements: Any...) {
    fatalError("An ordered set of members belongs to an object.")
  }

  override var count: Int {
    update()
    return super.count
  }

  override func object(at idx: Int) -> Any {
    update()
    return super.object(at: idx)
  }

  override func index(of object: Any) -> Int {
    update()
    return super.index(of: object)
  }

  /// Takes over the present members of the relationship, unless this set is its proxy and so has them already. Does
  /// nothing if the owner is in no context any more.
  private func update() {
    guard owner.managedObjectContext != nil else { return }
    owner.checkQueue()
    owner.fireFault(relationship.name)
    let members = owner.members(of: relationship, at: place)
    guard members.proxy !== self else { return }
    members.proxy = self
    show(members.elements)
  }

  // MARK: Called by the relationship

  func showAddition(of object: NSManagedObject) {
    super.insert(object, at: super.count)
    shown.append(ObjectIdentifier(object))
  }

  /// Takes time proportional to the number of members, unless the object is the last one.
  func showRemoval(of object: NSManagedObject) {
    let identifier = ObjectIdentifier(object)
    guard let index = shown.last == identifier ? shown.count - 1 : shown.firstIndex(of: identifier) else { return }
    super.removeObject(at: index)
    shown.remove(at: index)
  }

  func showMoveOfLast(to index: Int) {
    let object = super.object(at: super.count - 1)
    super.removeObject(at: super.count - 1)
    super.insert(object, at: index)
    shown.insert(shown.removeLast(), at: index)
  }

  func show(_ objects: [NSManagedObject]) {
    while super.count > 0 { super.removeObject(at: super.count - 1) }
    shown.removeAll()
    for object in objects { showAddition(of: object) }
  }

  // MARK: Changing the relationship

  override func add(_ object: Any) { insert(object, at: count) }

  override func addObjects(from array: [Any]) { for object in array { add(object) } }

  override func insert(_ object: Any, at idx: Int) {
    let object = checked(object)
    update()
    guard !contains(object) else { return }
    checkPlace(idx, upTo: count)
    change([object]) { owner, members in
      owner.add(object, relationship, at: place)
      members.moveLast(to: idx)
    }
  }

  override func removeObject(at idx: Int) { remove(object(at: idx)) }

  override func remove(_ object: Any) {
    update()
    guard let object = object as? NSManagedObject, contains(object) else { return }
    change([object]) { owner, _ in owner.remove(object, relationship, at: place) }
  }

  override func removeAllObjects() { removeMembers { _ in true } }

  override func removeObjects(in array: [Any]) { minus(NSOrderedSet(array: array)) }

  override func removeObjects(in range: NSRange) { removeObjects(at: IndexSet(integersIn: Range(range) ?? 0..<0)) }

  override func removeObjects(at indexes: IndexSet) { minus(NSOrderedSet(array: indexes.map(object(at:)))) }

  override func replaceObject(at idx: Int, with obj: Any) {
    guard object(at: idx) as AnyObject !== obj as AnyObject else { return }
    removeObject(at: idx)
    insert(obj, at: Swift.min(idx, count))
  }

  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    for place in [idx1, idx2] { checkPlace(place, upTo: count - 1) }
    var objects = array
    objects.swapAt(idx1, idx2)
    reorder(objects)
  }

  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    let moved = indexes.map { object(at: $0) }
    var rest = array.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
    checkPlace(idx, upTo: rest.count)
    rest.insert(contentsOf: moved, at: idx)
    reorder(rest)
  }

  override func intersect(_ other: NSOrderedSet) {
    removeMembers { !other.contains($0) }
  }

  override func minus(_ other: NSOrderedSet) { removeMembers { other.contains($0) } }

  override func union(_ other: NSOrderedSet) { for object in other.array { add(object) } }

  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    reorder(array.sorted { cmptr($0, $1) == .orderedAscending })
  }

  override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult) {
    sort(comparator: cmptr)
  }

  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: array) }

  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: array) }

  private func removeMembers(where isRemoved: (NSManagedObject) -> Bool) {
    update()
    let objects = owner.members(of: relationship, at: place).elements.filter(isRemoved)
    guard !objects.isEmpty else { return }
    change(Set(objects)) { owner, members in
      members.change { for object in objects { owner.remove(object, relationship, at: place) } }
    }
  }

  private func reorder(_ objects: [Any]) {
    let objects = objects.compactMap { $0 as? NSManagedObject }
    change(Set(objects)) { _, members in members.reorder(objects) }
  }

  private func change(_ objects: Set<AnyHashable>, _ body: (NSManagedObject, RelatedObjects) -> Void) {
    update()
    owner.willChangeValue(forKey: relationship.name, withSetMutation: .set, using: objects)
    owner.noteEvent()
    body(owner, owner.members(of: relationship, at: place))
    owner.didChangeValue(forKey: relationship.name, withSetMutation: .set, using: objects)
  }

  private func checkPlace(_ place: Int, upTo end: Int) {
    require(place >= 0 && place <= end, "There is no place \(place) in \(relationship.name), which has \(count).")
  }

  private func checked(_ object: Any) -> NSManagedObject {
    guard let object = object as? NSManagedObject else {
      fatalError("\(relationship.name) relates to objects, and not to \(type(of: object)).")
    }
    owner.check(object, relationship)
    return object
  }
}
