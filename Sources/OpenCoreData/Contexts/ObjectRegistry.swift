import Foundation

/// The objects of a context by their identifiers: one for each. Keeps none of them.
struct ObjectRegistry {
  private struct Entry {
    weak var object: NSManagedObject?
  }

  private var entries: [NSManagedObjectID: Entry] = [:]
  /// The permanent identifiers of objects that were inserted here, and back.
  private var permanent: [NSManagedObjectID: NSManagedObjectID] = [:]
  private var temporary: [NSManagedObjectID: NSManagedObjectID] = [:]

  /// The object of an identifier, also of the temporary one that it had.
  subscript(id: NSManagedObjectID) -> NSManagedObject? {
    entries[id]?.object ?? (permanent.isEmpty ? nil : permanent[id].flatMap { entries[$0]?.object })
  }

  /// All objects that somebody uses.
  var objects: [NSManagedObject] { entries.values.compactMap(\.object) }

  var ids: [NSManagedObjectID] { Array(entries.keys) }

  mutating func add(_ object: NSManagedObject) { entries[object.objectID] = Entry(object: object) }

  /// The object has a permanent identifier from now on, and is found by the temporary one, too.
  mutating func rename(_ object: NSManagedObject, from old: NSManagedObjectID) {
    entries[old] = nil
    add(object)
    permanent[old] = object.objectID
    temporary[object.objectID] = old
  }

  mutating func remove(_ id: NSManagedObjectID) {
    entries[id] = nil
    if let old = temporary.removeValue(forKey: id) { permanent[old] = nil }
  }

  /// Forgets an identifier whose object is gone. Another object may have taken its place since.
  mutating func removeFreed(_ id: NSManagedObjectID) {
    if let entry = entries[id], entry.object == nil { remove(id) }
  }

  mutating func removeAll() { self = ObjectRegistry() }
}
