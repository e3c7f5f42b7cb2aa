import Foundation

extension NSPersistentStoreCoordinator {
  /// Executes a request in the stores.
  ///
  /// For a fetch request, returns an array of the answers of all stores concerned, one after the other: a count is one
  /// number for each store. For a save request, each store gets the part that concerns its objects, or all affected
  /// stores get it if it has no objects; the objects must have permanent identifiers. A request for history goes to all
  /// affected stores that can record theirs. Any other request is passed unchanged to the one store that it affects.
  ///
  /// - Throws: ``NSManagedObjectMergeError`` if others have changed objects that are to be saved; any error of a store.
  ///   The changes that other stores have saved before stay saved.
  public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
    switch request {
    case let request as any StoreFetch:
      return try fetch(request.forStores(managedObjectModel), context).flatMap(\.elements)
    case let request as NSSaveChangesRequest:
      try save(request, context)
      return [Any]()
    default: return try forward(request, context)
    }
  }

  /// The answers of the stores whose configurations have the entity, in the order of the stores.
  ///
  /// - Throws: ``NSCoreDataError`` if the model lacks the entity; any error of a store.
  func fetch(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws -> [StoreAnswer] {
    guard managedObjectModel.hasEntity(of: request) else {
      throw CoreDataError.make(
        NSCoreDataError,
        "A fetch request is for the entity \(request.entityName ?? "nil"), which the model does not have.")
    }
    try prepare(request, context)
    func answers() throws -> [StoreAnswer] {
      try affectedStores(of: request).map { store in
        try FetchCancellation.check()
        let answer = try store.execute(request, with: context)
        if let answer = StoreAnswer(answer) { return answer }
        throw CoreDataError.make(
          NSPersistentStoreOperationError,
          "\(type(of: store)) answered a fetch request with \(type(of: answer)), not an array.",
          [NSAffectedStoresErrorKey: [store]])
      }
    }
    // The answers of several stores are of one moment only while nobody saves.
    return try isForSeveralStores(request) ? withStoreLock(answers) : withStoresToRead(answers)
  }

  /// Has one store save objects, all of which belong to it.
  ///
  /// - Throws: ``NSPersistentStoreSaveError`` if the store is read-only and there is something to save; any error of
  ///   the store.
  func save(
    _ request: NSSaveChangesRequest, in store: NSPersistentStore, _ context: NSManagedObjectContext
  ) throws {
    try withStoreLock {
      let store = try own(store)
      if request.hasObjects { try requireWritable(store) }
      _ = try store.execute(request, with: context)
      if request.hasObjects { RemoteChanges.post(for: store) }
    }
  }

  /// Passes a request that is neither a fetch nor a save to the one store that it affects; one for history, to all that
  /// it affects.
  ///
  /// - Throws: ``NSPersistentStoreOperationError`` if it affects no store or several;
  ///   ``NSPersistentStoreSaveError`` if it would change a read-only store; any error of the store.
  func forward(_ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext) throws -> Any {
    if let request = request as? NSPersistentHistoryChangeRequest { return try history(request) }
    return try withStoreLock {
      let affected = try (request as? any BatchRequest).map(affectedStores) ?? affectedStores(of: request)
      guard affected.count == 1 else {
        throw CoreDataError.make(
          NSPersistentStoreOperationError,
          "\(type(of: request)) affects \(affected.count) stores; it must affect one, which affectedStores may name.")
      }
      guard request is any BatchRequest else { return try affected[0].execute(request, with: context) }
      try requireWritable(affected[0])
      defer { RemoteChanges.post(for: affected[0]) }
      return try affected[0].execute(request, with: context)
    }
  }

  func requireWritable(_ store: NSPersistentStore) throws {
    guard store.isReadOnly else { return }
    throw CoreDataError.make(
      NSPersistentStoreSaveError, "The store at \(store.url?.absoluteString ?? "?") is read-only.",
      [NSAffectedStoresErrorKey: [store]])
  }

  /// Has each store save its own objects.
  private func save(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext) throws {
    try withStoreLock {
      var parts: [(request: NSSaveChangesRequest, store: NSIncrementalStore)] = []
      let concerned = Set(try request.objects.map { try store(of: $0.objectID) })
      for store in concerned.isEmpty ? try affectedStores(of: request) : stores.filter(concerned.contains) {
        let part =
          concerned.count < 2 ? request : try request.part { try self.store(of: $0.objectID) === store }
        parts.append((part, store))
      }
      for part in parts { try ConflictCheck.check(part.request, context) }
      for part in parts { try save(part.request, in: part.store, context) }
    }
  }

  /// The stores that answer a fetch request: of the stores that it names, or of all stores, those whose configurations
  /// have the entity.
  func affectedStores(of request: NSFetchRequest<NSManagedObject>) throws -> [NSIncrementalStore] {
    let stores = try affectedStores(of: request as NSPersistentStoreRequest)
    guard let name = request.entityName else { return [] }
    return stores.allSatisfy { $0.entityNames.contains(name) }
      ? stores : stores.filter { $0.entityNames.contains(name) }
  }

  /// Whether several stores answer a fetch request.
  func isForSeveralStores(_ request: NSFetchRequest<NSManagedObject>) throws -> Bool {
    try stores.count > 1 && affectedStores(of: request).count > 1
  }

  /// The stores that a batch request concerns: those whose configurations have the entity, or the first of them for an
  /// insertion. If none has it, the first store refuses the request.
  private func affectedStores(of request: any BatchRequest) throws -> [NSIncrementalStore] {
    let all = try affectedStores(of: request as NSPersistentStoreRequest)
    let having = all.filter { $0.entityNames.contains(request.concernedEntityName) }
    if having.isEmpty { return Array(all.prefix(1)) }
    return request is NSBatchInsertRequest ? Array(having.prefix(1)) : having
  }

  func affectedStores(of request: NSPersistentStoreRequest) throws -> [NSIncrementalStore] {
    try request.affectedStores.map { try $0.map(own) } ?? stores
  }
}

extension NSSaveChangesRequest {
  fileprivate var hasObjects: Bool {
    [insertedObjects, updatedObjects, deletedObjects, lockedObjects].contains { $0?.isEmpty == false }
  }

  /// A request for some of the objects.
  fileprivate func part(_ isIncluded: (NSManagedObject) throws -> Bool) rethrows -> NSSaveChangesRequest {
    NSSaveChangesRequest(
      inserted: try insertedObjects?.filter(isIncluded), updated: try updatedObjects?.filter(isIncluded),
      deleted: try deletedObjects?.filter(isIncluded), locked: try lockedObjects?.filter(isIncluded))
  }
}

extension NSManagedObjectModel {
  /// Whether a request is for an entity of the model, or for one that has the same name.
  fileprivate func hasEntity(of request: NSFetchRequest<NSManagedObject>) -> Bool {
    request.entity?.owner === self || request.entityName.map { entitiesByName[$0] != nil } ?? false
  }
}
