import Foundation

/// The objects of a context by their identifiers: one for each. Keeps none of them.
struct ObjectRegistry {
  private struct Entry {
    weak var object: NSManagedObject?
  }

  private var entries: [IDKey: Entry] = [:]
  /// The permanent identifiers of objects that were inserted here, and back.
  private var permanent: [IDKey: NSManagedObjectID] = [:]
  private var temporary: [IDKey: NSManagedObjectID] = [:]

  /// The object of an identifier, also of the temporary one that it had.
  subscript(id: NSManagedObjectID) -> NSManagedObject? {
    entries[IDKey(id)]?.object
      ?? (permanent.isEmpty ? nil : permanent[IDKey(id)].flatMap { entries[IDKey($0)]?.object })
  }

  /// All objects that somebody uses.
  var objects: [NSManagedObject] { entries.values.compactMap(\.object) }

  var ids: [NSManagedObjectID] { entries.keys.map(\.id) }

  mutating func add(_ object: NSManagedObject) { entries[IDKey(object.objectID)] = Entry(object: object) }

  /// The object has a permanent identifier from now on, and is found by the temporary one, too.
  mutating func rename(_ object: NSManagedObject, from old: NSManagedObjectID) {
    entries[IDKey(old)] = nil
    add(object)
    permanent[IDKey(old)] = object.objectID
    temporary[IDKey(object.objectID)] = old
  }

  mutating func remove(_ id: NSManagedObjectID) {
    entries[IDKey(id)] = nil
    if let old = temporary.removeValue(forKey: IDKey(id)) { permanent[IDKey(old)] = nil }
  }

  /// Forgets an identifier whose object is gone. Another object may have taken its place since.
  mutating func removeFreed(_ id: NSManagedObjectID) {
    if let entry = entries[IDKey(id)], entry.object == nil { remove(id) }
  }

  mutating func removeAll() { self = ObjectRegistry() }
}
