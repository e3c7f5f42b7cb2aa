import Foundation

/// What a context has to save, in the order of the changes, and what has happened since it last processed its changes.
struct PendingChanges {
  var inserted = ObjectList()
  var updated = ObjectList()
  var deleted = ObjectList()
  /// Deleted objects whose relationships have not been dealt with.
  var propagating: [NSManagedObject] = []
  var event = Event()

  /// What the next notification of changes tells.
  struct Event {
    var inserted = ObjectList()
    /// Each once, as a bit of its state says.
    fileprivate(set) var changed: [NSManagedObject] = []
    var deleted = ObjectList()
    var refreshed = ObjectList()
    var invalidated = ObjectList()
    var invalidatedAll: [NSManagedObjectID] = []
    /// Who was at the other ends of relationships, by their places, before a primitive value was set. Until
    /// `didChangeValue(forKey:)` the other ends are as they were.
    var formerlyRelated: [NSManagedObject: [Int: [NSManagedObject]]] = [:]
    /// What those had before, in the same order.
    fileprivate var before: [[ManagedValue]] = []
    /// The places of those, made when somebody asks.
    fileprivate var places: [ObjectIdentifier: Int] = [:]

    var isEmpty: Bool {
      inserted.isEmpty && changed.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidated.isEmpty
        && invalidatedAll.isEmpty
    }
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The objects with changes: inserted, updated, deleted.
  var objects: [NSManagedObject] { written + deleted }

  /// The objects that rows are written for: inserted, updated.
  var written: [NSManagedObject] {
    var objects = inserted.elements
    objects.reserveCapacity(inserted.count + updated.count)
    objects += updated
    return objects
  }

  /// Notes what an object had before the first change in the event.
  mutating func note(_ object: NSManagedObject, before values: [ManagedValue]) {
    event.changed.append(object)
    event.before.append(values)
  }

  /// What an object had when the event began; nil if it has not changed.
  ///
  /// - Complexity: O(1), but for the changes since the last call.
  mutating func values(before object: NSManagedObject) -> [ManagedValue]? {
    for place in event.places.count..<event.changed.count {
      event.places[ObjectIdentifier(event.changed[place])] = place
    }
    return event.places[ObjectIdentifier(object)].map { event.before[$0] }
  }

  /// The event, which is over.
  mutating func takeEvent() -> Event {
    let taken = event
    for object in taken.changed { object.state.remove(.changedInEvent) }
    for object in taken.formerlyRelated.keys { object.state.remove(.primitivelyRelated) }
    event = Event()
    return taken
  }

  /// Forgets an object that is gone from the context.
  mutating func forget(_ object: NSManagedObject) {
    inserted.remove(object)
    updated.remove(object)
    deleted.remove(object)
    object.state.subtract([.inserted, .updated, .deleted, .locked, .gone])
  }
}
