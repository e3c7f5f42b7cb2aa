/// What the unsaved changes of a context say of one object. Only the functions in this file write it.
struct ObjectState {
  /// What the next save does with an object.
  enum Change {
    /// Nothing.
    case none
    case inserted
    case updated
    case deleted
    /// Nothing, because it was inserted and deleted since the last save. It leaves the context once its delete rules
    /// have been applied.
    case annihilated
    /// Nothing, because somebody else has deleted its row.
    case lost
  }

  struct Marks: OptionSet {
    let rawValue: UInt8

    /// The next save checks its version.
    static let locked = Marks(rawValue: 1 << 0)
    /// It is deleted here, and its row is gone already.
    static let gone = Marks(rawValue: 1 << 1)
    /// It is inserted again because its row is gone; it is registered with the stores already.
    static let reinserted = Marks(rawValue: 1 << 2)
    /// `prepareForDeletion()` is being called.
    static let preparing = Marks(rawValue: 1 << 3)
    /// It was deleted here when a merge reported a change of its row, which it has not taken.
    static let outdated = Marks(rawValue: 1 << 4)
  }

  fileprivate(set) var change = Change.none
  fileprivate(set) var marks: Marks = []

  init() {}

  var isInserted: Bool { change == .inserted || change == .annihilated }
  var isDeleted: Bool { change == .deleted || isDeletedAlready }
  /// Whether it counts as deleted, and the next save has nothing to delete.
  var isDeletedAlready: Bool { change == .annihilated || change == .lost }
}

/// The unsaved changes of a context, in their order.
///
/// Each object is in the list of its state's change, and in no other: six transitions change both together. A table in
/// OBJECTS.md shows them.
struct PendingChanges {
  private(set) var inserted = ObjectList()
  private(set) var updated = ObjectList()
  private(set) var deleted = ObjectList()
  /// Objects whose versions the next save checks and raises, even if they have no changes.
  private(set) var locked = ObjectList()
  /// Deleted objects whose delete rules have not been applied yet.
  private(set) var propagating: [NSManagedObject] = []
  var event = PendingEvent()

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

  // MARK: Insert

  /// The next save inserts a row for the object.
  mutating func insert(_ object: NSManagedObject) {
    move(object, to: .inserted)
    event.noteInsertion(of: object)
  }

  /// The next save inserts a row for the object, whose former row is gone.
  mutating func insertAgain(_ object: NSManagedObject) {
    forget(object)
    move(object, to: .inserted)
    object.state.marks.insert(.reinserted)
  }

  // MARK: Update

  /// The next save updates the row of the object, unless it inserts or deletes the row.
  mutating func update(_ object: NSManagedObject) {
    if object.state.change == .none { move(object, to: .updated) }
  }

  // MARK: Delete

  /// The next save deletes the row of the object, after the delete rules have been applied.
  mutating func delete(_ object: NSManagedObject) {
    move(object, to: object.isInserted ? .annihilated : .deleted)
    event.noteDeletion(of: object)
    propagating.append(object)
  }

  /// The object counts as deleted, because its fault has found no row. The next save makes sure of that.
  mutating func delete(inaccessible object: NSManagedObject) {
    move(object, to: .deleted)
    event.noteDeletion(of: object)
  }

  /// The object counts as deleted, because somebody else has deleted its row.
  mutating func delete(lost object: NSManagedObject) {
    forget(object)
    move(object, to: .lost)
  }

  // MARK: Revive

  /// The object is no longer deleted. Returns whether its delete rules have been applied.
  @discardableResult
  mutating func revive(_ object: NSManagedObject) -> Bool {
    move(object, to: .none)
    object.state.marks.subtract([.gone, .reinserted])
    event.noteRevival(of: object)
    let count = propagating.count
    propagating.removeAll { $0 === object }
    return propagating.count == count
  }

  // MARK: Forget

  /// The object has no unsaved changes any more, and is not locked.
  mutating func forget(_ object: NSManagedObject) {
    move(object, to: .none)
    unlock(object)
    object.state.marks.subtract([.gone, .reinserted])
  }

  /// The object, if it was updated, has no unsaved changes any more. It stays locked.
  mutating func forget(updateOf object: NSManagedObject) {
    if object.state.change == .updated { move(object, to: .none) }
  }

  /// No object of the context has unsaved changes any more. The event must have ended.
  mutating func forgetAll(_ registered: [NSManagedObject]) {
    for object in registered { object.state = ObjectState() }
    self = PendingChanges()
  }

  // MARK: Saved

  /// The unsaved changes of some objects.
  struct Selection {
    let inserted: [NSManagedObject]
    let updated: [NSManagedObject]
    let deleted: [NSManagedObject]
    let locked: [NSManagedObject]
  }

  /// - Parameter isSelected: nil to select all objects.
  func selection(_ isSelected: ((NSManagedObject) -> Bool)?) -> Selection {
    func select(_ objects: ObjectList) -> [NSManagedObject] {
      isSelected.map { objects.filter($0) } ?? objects.elements
    }
    return Selection(
      inserted: select(inserted), updated: select(updated), deleted: select(deleted), locked: select(locked))
  }

  /// The stores have saved these changes.
  mutating func saved(_ changes: Selection) {
    inserted.remove(changes.inserted)
    updated.remove(changes.updated)
    deleted.remove(changes.deleted)
    locked.remove(changes.locked)
    for object in changes.locked { object.state.marks.remove(.locked) }
    for objects in [changes.inserted, changes.updated, changes.deleted] {
      for object in objects {
        object.state.change = .none
        object.state.marks.subtract([.gone, .reinserted])
      }
    }
  }

  // MARK: Lists

  /// Gives an object another change, and puts it into the list of that change.
  private mutating func move(_ object: NSManagedObject, to change: ObjectState.Change) {
    withList(of: object.state.change) { $0.remove(object) }
    object.state.change = change
    withList(of: change) { $0.append(object) }
  }

  private mutating func withList(of change: ObjectState.Change, _ body: (inout ObjectList) -> Void) {
    switch change {
    case .inserted: body(&inserted)
    case .updated: body(&updated)
    case .deleted: body(&deleted)
    case .none, .annihilated, .lost: break
    }
  }
}

/// What the next save checks, and which delete rules are to be applied.
extension PendingChanges {
  /// Has the next save check the version of the object.
  mutating func lock(_ object: NSManagedObject) {
    object.state.marks.insert(.locked)
    locked.append(object)
  }

  mutating func unlock(_ object: NSManagedObject) {
    guard object.state.marks.contains(.locked) else { return }
    object.state.marks.remove(.locked)
    locked.remove(object)
  }

  /// Has the delete rules of deleted objects applied.
  mutating func propagate(_ objects: [NSManagedObject]) { propagating += objects }

  /// The deleted objects whose delete rules are to be applied now.
  mutating func takePropagating() -> [NSManagedObject] {
    defer { propagating = [] }
    return propagating
  }
}

extension NSManagedObject {
  /// Notes whether the row of an object that is deleted here is gone already.
  final func note(isGone: Bool) {
    if isGone { state.marks.insert(.gone) } else { state.marks.remove(.gone) }
  }

  /// Notes whether the object has missed a change of its row, because it was deleted here when the change was merged.
  final func note(isOutdated: Bool) {
    if isOutdated { state.marks.insert(.outdated) } else { state.marks.remove(.outdated) }
  }

  /// Calls `prepareForDeletion()`, which cannot delete the object itself.
  final func callPrepareForDeletion() {
    state.marks.insert(.preparing)
    prepareForDeletion()
    state.marks.remove(.preparing)
  }
}
