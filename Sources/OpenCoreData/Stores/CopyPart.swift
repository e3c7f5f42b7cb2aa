import Foundation

/// The objects that one save of a ``StoreCopy`` writes.
///
/// They are made and changed without calling the methods that the application overrides for inserted, fetched or saved
/// objects.
final class CopyPart {
  private let store: NSIncrementalStore
  private let coordinator: NSPersistentStoreCoordinator
  private let context: NSManagedObjectContext
  private var inserted = ObjectList()
  private var updated = ObjectList()

  /// Runs `body` with a new part, and saves what it has changed.
  ///
  /// - Parameter savesMetadata: whether to save even if nothing was changed.
  static func write(
    to store: NSIncrementalStore, of coordinator: NSPersistentStoreCoordinator, savesMetadata: Bool = false,
    _ body: (CopyPart) throws -> Void
  ) throws {
    let part = CopyPart(store, coordinator)
    try part.context.performAndWait {
      try body(part)
      if savesMetadata || !part.inserted.isEmpty || !part.updated.isEmpty { try part.save() }
    }
  }

  private init(_ store: NSIncrementalStore, _ coordinator: NSPersistentStoreCoordinator) {
    self.store = store
    self.coordinator = coordinator
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  /// How many objects have been asked for: at least as many as are in memory.
  private(set) var count = 0

  // MARK: Objects

  /// Makes objects of the entities of others, with permanent identifiers.
  func insert(copiesOf ids: [NSManagedObjectID]) throws -> [NSManagedObject] {
    count += ids.count
    let copies = ids.map { id in
      let copy = id.entity.objectClass.init(entity: id.entity, insertInto: nil)
      context.register(copy)
      context.pending.insert(copy)
      inserted.append(copy)
      return copy
    }
    try context.obtainPermanentIDs(for: copies)
    return copies
  }

  /// The object with an identifier, with its values.
  func object(_ id: NSManagedObjectID) throws -> NSManagedObject {
    let object = context.object(with: id)
    count += 1
    if object.isFault { try object.takeRow(context) }
    return object
  }

  // MARK: Relationships

  /// Sets a to-one relationship. An object that is in the store already also gets the other end of a one-to-one
  /// relationship, because a save must not contradict it.
  func relate(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, to id: NSManagedObjectID) throws {
    set(object, relationship, to: context.object(with: id))
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany, !inserted.contains(object) else { return }
    set(try self.object(id), inverse, to: object)
  }

  private func set(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, to other: NSManagedObject) {
    guard let place = object.layout.place(of: relationship.name), object.values[place].objectID != other.objectID
    else { return }
    object.put(.object(other), at: place)
    noteChange(of: object)
  }

  /// Adds members to a to-many relationship. An ordered relationship has them in this order, and first.
  func add(
    _ ids: [NSManagedObjectID], to object: NSManagedObject, _ relationship: NSRelationshipDescription
  ) throws {
    guard let place = object.layout.place(of: relationship.name) else { return }
    let members = try members(of: object, relationship, at: place)
    let added = context.objects(with: ids)
    count += ids.count
    for member in added { members.add(member) }
    if relationship.isOrdered {
      let first = ObjectList(added)
      members.reorder(added + members.elements.filter { !first.contains($0) })
    }
    if members.hasChanges { noteChange(of: object) }
  }

  /// The members of a relationship. Those of an unordered one are not read from the store.
  private func members(
    of object: NSManagedObject, _ relationship: NSRelationshipDescription, at place: Int
  ) throws -> RelatedObjects {
    if case .members(let members) = object.values[place] { return members }
    let members = RelatedObjects(isOrdered: relationship.isOrdered)
    if relationship.isOrdered {
      members.fire(context.objects(with: try context.relatedIDs(relationship, of: object.objectID)))
    }
    object.put(.members(members), at: place)
    return members
  }

  private func noteChange(of object: NSManagedObject) {
    if !inserted.contains(object) { updated.append(object) }
  }

  // MARK: Saving

  private func save() throws {
    try coordinator.save(
      NSSaveChangesRequest(inserted: Set(inserted), updated: Set(updated), deleted: [], locked: []), in: store, context)
  }
}
