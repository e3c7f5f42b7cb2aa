import Foundation

extension NSManagedObject {
  /// Call this before a value changes, so that the current event notes the old value, or afterwards with the values as
  /// they were before.
  final func noteEvent(before former: [ManagedValue]? = nil) {
    guard !eventState.isChanged, !eventState.isQuiet, let context = managedObjectContext else { return }
    context.undoRecorder?.note(self)
    context.pending.event.note(self, before: former ?? values)
  }

  /// Call this after a value has changed, so that the object is saved.
  final func noteChange() {
    noteEvent()
    guard state.change == .none, !eventState.isQuiet else { return }
    managedObjectContext?.pending.update(self)
  }

  /// Whether any value that is not transient differs from the value that was fetched or saved last.
  public final var hasPersistentChangedValues: Bool {
    layout.slots.indices.contains { !layout.slots[$0].isTransient && hasChanged(at: $0) }
  }

  /// Whether any value, transient ones included, differs from the value that was fetched or saved last.
  final var hasChangedValues: Bool { values.indices.contains(where: hasChanged) }

  /// The values that differ from those fetched or saved last, by their names; `NSNull` for no value.
  public final func changedValues() -> [String: Any] {
    checkQueue()
    return changes { hasChanged(at: $0) }
  }

  /// The values that have changed since the context last processed its changes, by their names; `NSNull` for no value.
  public final func changedValuesForCurrentEvent() -> [String: Any] {
    checkQueue()
    guard let before = managedObjectContext?.pending.event.values(before: self) else { return [:] }
    return changes { place in
      guard !before.isEmpty else { return hasChanged(at: place) }
      if case .members(let members) = values[place] { return members.hasChanges }
      return !values[place].isEqual(before[place])
    }
  }

  /// The values as they were fetched or saved last, by their names; `NSNull` for no value. If no names are given, the
  /// values of all attributes and to-one relationships that are not transient.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    checkQueue()
    fireFault()
    var committed: [String: Any] = [:]
    for (place, slot) in layout.slots.enumerated() where keys?.contains(slot.name) ?? slot.isInSnapshot {
      committed[slot.name] = committedValue(at: place) ?? NSNull()
    }
    return committed
  }

  /// The values that were fetched or saved last, in the form of a conflict's snapshot.
  final var snapshotValues: [String: Any]? { snapshot.map(layout.dictionary) }

  /// Whether the value of a slot differs from the value that was fetched or saved last.
  final func hasChanged(at place: Int) -> Bool {
    guard !values.isEmpty else { return false }
    switch values[place] {
    case .fault, .fetched: return false
    case .members(let members): return members.hasChanges
    case let value:
      if let snapshot { return !value.isEqual(snapshot.values[place]) }
      // Never saved.
      return !isFault && !value.isEqual(layout.defaults[place])
    }
  }

  private final func changes(where hasChanged: (Int) -> Bool) -> [String: Any] {
    guard !values.isEmpty else { return [:] }
    var changes: [String: Any] = [:]
    for place in values.indices where hasChanged(place) {
      changes[layout.slots[place].name] = value(at: place) ?? NSNull()
    }
    return changes
  }

  private final func committedValue(at place: Int) -> Any? {
    switch layout.slots[place].kind {
    case .attribute(let attribute):
      return (snapshot?.values[place])?.anyValue(of: attribute.attributeType)
    case .toOne:
      return snapshot?.values[place].objectID.flatMap { managedObjectContext?.object(with: $0) }
    case .toMany(let relationship):
      guard snapshot != nil else { return nil }
      let members = members(of: relationship, at: place)
      let stored =
        members.elements.filter { !members.added.contains($0) } + members.removed.elements
      return relationship.isOrdered ? NSOrderedSet(array: stored) : NSSet(array: stored)
    case .fetched: return nil
    }
  }
}
