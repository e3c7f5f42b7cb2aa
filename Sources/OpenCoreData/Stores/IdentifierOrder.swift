/// The order in which fetches return objects that are equal for the sort descriptors: those of one store after those of
/// another, those of an entity before those of its subentities, and these in the order of their references. Objects that
/// were never saved are where a save puts them.
struct IdentifierOrder {
  private let stores: [NSPersistentStore]
  private let entities: [ObjectIdentifier: Int]

  init(_ entity: NSEntityDescription, _ stores: [NSPersistentStore]) {
    self.stores = stores
    var entities: [ObjectIdentifier: Int] = [:]
    func add(_ entity: NSEntityDescription) {
      entities[ObjectIdentifier(entity)] = entities.count
      for subentity in entity.subentities { add(subentity) }
    }
    add(entity)
    self.entities = entities
  }

  func precedes(_ left: NSManagedObjectID, _ right: NSManagedObjectID) -> Bool {
    let (store, otherStore) = (place(ofStore: left), place(ofStore: right))
    guard store == otherStore else { return store < otherStore }
    let (entity, otherEntity) = (entities[ObjectIdentifier(left.entity)], entities[ObjectIdentifier(right.entity)])
    guard let entity, let otherEntity, entity != otherEntity else { return left.reference.precedes(right.reference) }
    return entity < otherEntity
  }

  /// Which store saves an object is known once it is saved.
  private func place(ofStore id: NSManagedObjectID) -> Int {
    guard stores.count > 1, let store = id.persistentStore else { return stores.count - 1 }
    return stores.firstIndex { $0 === store } ?? stores.count
  }
}

extension ObjectReference {
  /// Whether a store has the object before another one: numbers, then texts. Those that no store has yet come last, in the
  /// order in which they were made.
  func precedes(_ other: ObjectReference) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.temporary(let left), .temporary(let right)): left < right
    case (.integer, _), (.string, .temporary): true
    default: false
    }
  }
}
