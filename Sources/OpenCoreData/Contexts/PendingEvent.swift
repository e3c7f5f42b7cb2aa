/// What the current event of a context has noted of one object. Only the functions in this file write it.
struct ObjectEventState {
  /// Its values before the event have been noted.
  fileprivate(set) var isChanged = false
  /// A primitive value of a relationship was set, and the other ends have not been updated yet.
  fileprivate(set) var isPrimitivelyRelated = false
  /// A method such as `awakeFromFetch()` or `awakeFromInsert()` is being called: its changes are not noted.
  fileprivate(set) var isQuiet = false

  init() {}
}

/// The changes of a context since it last processed changes: those that its next notification reports.
struct PendingEvent {
  private(set) var inserted = ObjectList()
  /// Each object once.
  private(set) var changed: [NSManagedObject] = []
  private(set) var deleted = ObjectList()
  private(set) var refreshed = ObjectList()
  private(set) var invalidatedAll: [NSManagedObjectID] = []
  /// The objects at the other ends of relationships, by the relationships' places, before a primitive value was set.
  /// The other ends are not changed until `didChangeValue(forKey:)`.
  private(set) var formerlyRelated: [NSManagedObject: [Int: [NSManagedObject]]] = [:]
  /// The values of the objects in `changed` before their changes, in the same order.
  private var before: [[ManagedValue]] = []
  /// The positions of objects in `changed`, determined when they are needed.
  private var places: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool {
    inserted.isEmpty && changed.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidatedAll.isEmpty
  }

  mutating func noteInsertion(of object: NSManagedObject) { inserted.append(object) }

  /// An object that was inserted in the event is not reported at all.
  mutating func noteDeletion(of object: NSManagedObject) {
    if !inserted.remove(object) { deleted.append(object) }
  }

  mutating func noteRevival(of object: NSManagedObject) { deleted.remove(object) }

  /// Notes that the values of an object were read again or discarded.
  mutating func noteRefresh(of object: NSManagedObject) { refreshed.append(object) }

  /// Notes the objects that a reset has removed from the context.
  mutating func noteReset(of ids: [NSManagedObjectID]) { invalidatedAll = ids }

  /// Notes the values of an object before its first change in the event.
  mutating func note(_ object: NSManagedObject, before values: [ManagedValue]) {
    object.eventState.isChanged = true
    changed.append(object)
    before.append(values)
  }

  /// The values of an object when the event began; nil if it has not changed since.
  ///
  /// - Complexity: O(1), plus the number of objects changed since the last call.
  mutating func values(before object: NSManagedObject) -> [ManagedValue]? {
    for place in places.count..<changed.count { places[ObjectIdentifier(changed[place])] = place }
    return places[ObjectIdentifier(object)].map { before[$0] }
  }

  /// Notes the objects at the other end of a relationship before a primitive value is set.
  mutating func note(_ object: NSManagedObject, formerlyRelated related: [NSManagedObject], at place: Int) {
    object.eventState.isPrimitivelyRelated = true
    formerlyRelated[object, default: [:]][place] = related
  }

  /// The objects at the other end before a primitive value was set; nil if none was set.
  mutating func takeFormerlyRelated(_ object: NSManagedObject, at place: Int) -> [NSManagedObject]? {
    formerlyRelated[object]?.removeValue(forKey: place)
  }

  /// Ends the event and returns it.
  mutating func end() -> PendingEvent {
    let ended = self
    for object in changed { object.eventState.isChanged = false }
    for object in formerlyRelated.keys { object.eventState.isPrimitivelyRelated = false }
    self = PendingEvent()
    return ended
  }
}

extension NSManagedObject {
  /// Calls a method of the application, and does not note its changes of the object.
  final func quietly(_ body: () -> Void) {
    let wasQuiet = eventState.isQuiet
    eventState.isQuiet = true
    body()
    eventState.isQuiet = wasQuiet
  }

  /// Forgets what the event of another context has noted.
  final func leaveEvent() { eventState = ObjectEventState() }
}
