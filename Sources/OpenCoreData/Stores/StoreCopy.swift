import Foundation

/// Copies all objects of a store into an empty one, through a coordinator that has only the empty one.
///
/// Rows are read and objects are made without calling the methods that the application overrides for fetched, inserted
/// or saved objects.
struct StoreCopy {
  private let source: NSIncrementalStore
  private let target: NSIncrementalStore
  private let coordinator: NSPersistentStoreCoordinator
  private let targetCoordinator: NSPersistentStoreCoordinator
  private let sourceContext: NSManagedObjectContext
  private let context: NSManagedObjectContext
  /// The new objects in the order of the old ones.
  private var objects: [NSManagedObject] = []
  private var copies: [NSManagedObjectID: NSManagedObject] = [:]

  /// - Parameters:
  ///   - source: a store of the coordinator.
  ///   - target: a store whose metadata are loaded.
  /// - Throws: any error of either store.
  static func run(
    _ source: NSIncrementalStore, of coordinator: NSPersistentStoreCoordinator, _ target: NSIncrementalStore
  ) throws {
    var copy = StoreCopy(source, coordinator, target)
    try copy.sourceContext.performAndWait {
      try copy.context.performAndWait {
        defer { copy.end() }
        try copy.run()
      }
    }
  }

  private init(
    _ source: NSIncrementalStore, _ coordinator: NSPersistentStoreCoordinator, _ target: NSIncrementalStore
  ) {
    self.source = source
    self.target = target
    self.coordinator = coordinator
    targetCoordinator = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    targetCoordinator.stores = [target]
    sourceContext = NSManagedObjectContext(.privateQueue)
    sourceContext.persistentStoreCoordinator = coordinator
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = targetCoordinator
  }

  private mutating func run() throws {
    for entity in coordinator.managedObjectModel.entities
    where !entity.isAbstract && source.entityNames.contains(entity.name ?? "") {
      for id in try identifiers(of: entity) where copies[id] == nil { add(id) }
    }
    for (id, copy) in copies { try fill(copy, from: id) }
    try context.obtainPermanentIDs(for: objects)
    target.carryMetadata(of: source)
    try targetCoordinator.save(
      NSSaveChangesRequest(inserted: Set(objects), updated: [], deleted: [], locked: []), in: target, context)
  }

  /// The objects of an entity, without those of its subentities.
  private func identifiers(of entity: NSEntityDescription) throws -> [NSManagedObjectID] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.entity = entity
    request.resultType = .managedObjectIDResultType
    request.includesSubentities = false
    request.includesPendingChanges = false
    request.affectedStores = [source]
    return try coordinator.fetch(request, sourceContext).flatMap { $0 }.map { found in
      guard let id = found as? NSManagedObjectID else {
        throw CoreDataError.make(
          NSPersistentStoreOperationError,
          "\(type(of: source)) answered \(type(of: found)) when it was asked for identifiers.",
          [NSAffectedStoresErrorKey: [source]])
      }
      return id
    }
  }

  private mutating func add(_ id: NSManagedObjectID) {
    guard let type = id.entity.managedObjectClass else { return }
    let copy = type.init(entity: id.entity, insertInto: nil)
    context.register(copy)
    context.pending.insert(copy)
    objects.append(copy)
    copies[id] = copy
  }

  private func fill(_ copy: NSManagedObject, from id: NSManagedObjectID) throws {
    let layout = copy.layout
    let node = try sourceContext.node(for: id)
    let values = try NSManagedObject.committed(node, layout, id, sourceContext).values
    for (place, slot) in layout.slots.enumerated() where !slot.isTransient {
      switch slot.kind {
      case .attribute: copy.put(values[place], at: place)
      case .toOne: copy.put(values[place].objectID.flatMap { copies[$0] }.map { .object($0) } ?? .null, at: place)
      case .toMany(let relationship):
        let given = node.value(for: relationship).flatMap(relationship.identifiers)
        let members = RelatedObjects(isOrdered: relationship.isOrdered, members: ObjectList())
        for other in try given ?? sourceContext.relatedIDs(relationship, of: id) {
          if let other = copies[other] { members.add(other) }
        }
        copy.put(.members(members), at: place)
      case .fetched: continue
      }
    }
  }

  /// Removes the objects from the context, and their references to each other.
  private func end() {
    for object in objects {
      context.forget(object)
      object.forgetValues()
    }
    targetCoordinator.stores = []
  }
}
