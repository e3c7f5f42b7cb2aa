import Foundation

/// The unsaved changes of a context, in their order, and its changes since it last processed changes.
struct PendingChanges {
  var inserted = ObjectList()
  var updated = ObjectList()
  var deleted = ObjectList()
  /// Objects whose versions the next save checks and raises, even if they have no changes.
  var locked = ObjectList()
  /// Deleted objects whose delete rules have not been applied yet.
  var propagating: [NSManagedObject] = []
  var event = Event()

  /// The changes that the next notification reports.
  struct Event {
    var inserted = ObjectList()
    /// Each object once: the bit `changedInEvent` of its state marks it.
    fileprivate(set) var changed: [NSManagedObject] = []
    var deleted = ObjectList()
    var refreshed = ObjectList()
    var invalidatedAll: [NSManagedObjectID] = []
    /// The objects at the other ends of relationships, by the relationships' places, before a primitive value was set.
    /// The other ends are not changed until `didChangeValue(forKey:)`.
    var formerlyRelated: [NSManagedObject: [Int: [NSManagedObject]]] = [:]
    /// The values of the objects in `changed` before their changes, in the same order.
    fileprivate var before: [[ManagedValue]] = []
    /// The positions of objects in `changed`, determined when they are needed.
    fileprivate var places: [ObjectIdentifier: Int] = [:]

    var isEmpty: Bool {
      inserted.isEmpty && changed.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidatedAll.isEmpty
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

  /// Records the values of an object before its first change in the event.
  mutating func note(_ object: NSManagedObject, before values: [ManagedValue]) {
    event.changed.append(object)
    event.before.append(values)
  }

  /// The values of an object when the event began; nil if it has not changed since.
  ///
  /// - Complexity: O(1), plus the number of objects changed since the last call.
  mutating func values(before object: NSManagedObject) -> [ManagedValue]? {
    for place in event.places.count..<event.changed.count {
      event.places[ObjectIdentifier(event.changed[place])] = place
    }
    return event.places[ObjectIdentifier(object)].map { event.before[$0] }
  }

  /// Ends the event and returns it.
  mutating func takeEvent() -> Event {
    let taken = event
    for object in taken.changed { object.state.remove(.changedInEvent) }
    for object in taken.formerlyRelated.keys { object.state.remove(.primitivelyRelated) }
    event = Event()
    return taken
  }

  /// Removes an object from the unsaved changes.
  mutating func forget(_ object: NSManagedObject) {
    inserted.remove(object)
    updated.remove(object)
    deleted.remove(object)
    locked.remove(object)
    object.state.subtract([.inserted, .updated, .deleted, .locked, .gone])
  }
}
