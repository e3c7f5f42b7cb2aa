import Foundation

/// The store that a ``StoreCopy`` reads, in the state that it has at the first read if its class can keep to one state.
struct CopySource {
  let store: NSIncrementalStore
  let context: NSManagedObjectContext
  private let coordinator: NSPersistentStoreCoordinator

  init(_ store: NSIncrementalStore, of coordinator: NSPersistentStoreCoordinator) {
    self.store = store
    self.coordinator = coordinator
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  /// The entities that the objects of the store may have.
  var entities: [NSEntityDescription] {
    coordinator.managedObjectModel.entities.filter { !$0.isAbstract && store.entityNames.contains($0.name ?? "") }
  }

  /// Stays at the present state of the store, if its class can.
  func pin() throws { try context.pin(to: .current) }

  /// The number of objects of an entity, without those of its subentities.
  func count(of entity: NSEntityDescription) throws -> Int {
    let answer = try fetch(request(for: entity, .countResultType))
    guard let count = answer.first as? NSNumber else { throw wrongAnswer(answer.first, for: "a count") }
    return count.intValue
  }

  /// Calls `body` with the identifiers of an entity's objects, without those of its subentities, at most `size` at a
  /// time.
  func forEachPart(
    of entity: NSEntityDescription, size: Int, _ body: ([NSManagedObjectID]) throws -> Void
  ) throws {
    let request = request(for: entity, .managedObjectIDResultType)
    guard store is any LargeStore else {
      let all = try identifiers(request)
      for start in stride(from: 0, to: all.count, by: size) {
        try body(Array(all[start..<min(start + size, all.count)]))
      }
      return
    }
    request.fetchLimit = size
    while case let part = try identifiers(request), let last = part.last {
      try body(part)
      request.predicate = NSPredicate(format: "SELF > %@", last)
    }
  }

  /// The attributes and to-one relationships of an object.
  func values(of id: NSManagedObjectID) throws -> [ManagedValue] {
    try NSManagedObject.committed(context.node(for: id), id.entity.layout, id, context).values
  }

  func members(of relationship: NSRelationshipDescription, of id: NSManagedObjectID) throws -> [NSManagedObjectID] {
    if !(store is any LargeStore), let given = try context.node(for: id).value(for: relationship),
      let members = relationship.identifiers(in: given)
    {
      return members
    }
    return try context.relatedIDs(relationship, of: id)
  }

  private func request(
    for entity: NSEntityDescription, _ type: NSFetchRequestResultType
  ) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.entity = entity
    request.resultType = type
    request.includesSubentities = false
    request.includesPendingChanges = false
    request.affectedStores = [store]
    return request
  }

  private func fetch(_ request: NSFetchRequest<NSManagedObject>) throws -> [Any] {
    try coordinator.fetch(request, context).flatMap(\.elements)
  }

  private func identifiers(_ request: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObjectID] {
    try fetch(request).map { found in
      guard let id = found as? NSManagedObjectID else { throw wrongAnswer(found, for: "identifiers") }
      return id
    }
  }

  private func wrongAnswer(_ answer: Any?, for what: String) -> NSError {
    CoreDataError.make(
      NSPersistentStoreOperationError,
      "\(type(of: store)) answered \(answer.map { "\(type(of: $0))" } ?? "nothing") when it was asked for \(what).",
      [NSAffectedStoresErrorKey: [store]])
  }
}
