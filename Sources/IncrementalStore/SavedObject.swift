import CoreData

/// An object that a save or a batch request inserts, updates, deletes or locks.
package final class SavedObject {
  enum Change {
    case inserted
    case updated
    /// Updated, and only members of its relationships have changed. Its row is not read, but for the version.
    case touched
    case deleted
    case locked
  }

  /// The object in the context; nil for a batch request.
  let object: NSManagedObject?
  let change: Change
  let reference: ObjectReference
  let map: EntityMap
  /// The row before the save; nil for none. That of a touched object has no bytes.
  let stored: StoredRow?
  /// The contents of the row after the save; nil for none.
  private(set) var bytes: [UInt8]?
  /// The changes to the members of to-many relationships that do not follow from an object, by their numbers.
  let memberChanges: [UInt32: MemberChange]
  /// Whether the row keeps its contents, although its version rises.
  private(set) var keepsContents: Bool

  /// Members that a to-many relationship gains and loses, and the order of an ordered one; nil to leave the order.
  package struct MemberChange {
    package var added: [ObjectReference]
    package var removed: [ObjectReference]
    package var order: [ObjectReference]?

    package init(added: [ObjectReference], removed: [ObjectReference], order: [ObjectReference]?) {
      (self.added, self.removed, self.order) = (added, removed, order)
    }
  }

  init(
    _ object: NSManagedObject?, _ change: Change, _ reference: ObjectReference, _ map: EntityMap, _ stored: StoredRow?,
    memberChanges: [UInt32: MemberChange] = [:]
  ) {
    self.object = object
    self.change = change
    self.reference = reference
    self.map = map
    self.stored = stored
    self.memberChanges = memberChanges
    keepsContents = change == .touched
  }

  /// What the save does to the row.
  var rowChange: RowChanges.Row.Change {
    if keepsContents { return .touch }
    return bytes.map { .put($0) } ?? .delete
  }

  /// Whether the object in the context has noted by itself that another one has become a member of its relationship.
  func hasAdded(_ other: SavedObject, to end: ToManyEnd) -> Bool {
    guard change != .deleted, change != .locked, let object, let member = other.object,
      let slot = map.slot(ofSet: end.number)
    else { return false }
    return object.hasAdded(member, at: slot, isInserted: change == .inserted)
  }

  /// Sets the contents of the row after the save.
  func set(_ bytes: [UInt8]?) {
    keepsContents = stored != nil && bytes == stored?.bytes
    self.bytes = bytes
  }

  /// Objects in the order of their references.
  static func inOrder(_ objects: [SavedObject]) -> [SavedObject] {
    struct Key {
      let entity: UInt32
      let number: Int64
      let place: Int
    }
    let keys = objects.enumerated().compactMap { place, object -> Key? in
      guard case .integer(let number) = object.reference.reference else { return nil }
      return Key(entity: object.reference.entity, number: number, place: place)
    }
    // Numbers are compared in less time than references of any kind.
    guard keys.count == objects.count else { return objects.sorted { $0.reference < $1.reference } }
    return keys.sorted { ($0.entity, $0.number) < ($1.entity, $1.number) }.map { objects[$0.place] }
  }

  /// Orders objects that want the same key: those that already have a row come first.
  static func comesFirst(_ one: SavedObject, _ other: SavedObject) -> Bool {
    if (one.stored == nil) != (other.stored == nil) { return one.stored != nil }
    return one.reference < other.reference
  }
}
