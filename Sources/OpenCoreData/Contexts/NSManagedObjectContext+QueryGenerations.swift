/// Pinning a context to one state of its stores.
extension NSManagedObjectContext {
  /// The state of the stores to which the context, or the root of its ancestors, is pinned; nil if it reads what was
  /// saved last. ``NSQueryGenerationToken/current`` until the first read. Another context of the coordinator can be
  /// pinned with the token, on any thread.
  public var queryGenerationToken: NSQueryGenerationToken? {
    if let parent { return parent.performAndWait { parent.queryGenerationToken } }
    checkQueue()
    return generation
  }

  /// Pins the context to a state of its stores: fetches and faults do not see what is saved later.
  ///
  /// Objects that have values already keep them. A save, a merge and ``reset()`` pin the context to the state at its
  /// next read; a save compares versions with what was saved last. Stores on Cairn, and every other store on a
  /// `RowStore`, can be pinned; a coordinator without such a store leaves its contexts unpinned.
  ///
  /// - Parameter generation: nil to read what was saved last, as contexts do by default.
  /// - Throws: ``NSPersistentStoreOperationError`` if the context has a parent, whose state it reads, or no coordinator,
  ///   or if the token is of another coordinator; ``NSPersistentStoreUnsupportedRequestTypeError`` if one of its stores
  ///   has a database that cannot keep a state for long.
  public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    checkQueue()
    if generation != nil {
      let stores = persistentStoreCoordinator.map { coordinator in
        coordinator.withStoreLock { coordinator.generationStores }
      }
      for store in stores ?? [] { try store.checkStates() }
    }
    try pin(to: generation)
  }

  /// The same for work that ends soon, with any store.
  func pin(to generation: NSQueryGenerationToken?) throws {
    guard parent == nil, let coordinator = persistentStoreCoordinator else {
      throw CoreDataError.make(
        NSPersistentStoreOperationError,
        parent == nil
          ? "\(label) has no coordinator." : "\(label) has a parent: pin the root of its ancestors instead.")
    }
    guard generation == nil || generation === NSQueryGenerationToken.current || generation?.coordinator === coordinator
    else {
      throw CoreDataError.make(NSPersistentStoreOperationError, "The token is of another coordinator than \(label).")
    }
    self.generation = coordinator.withStoreLock { coordinator.generationStores.isEmpty } ? nil : generation
  }

  /// What a store reads from for this context; nil if that is what was saved last.
  package func pinnedState(of store: NSIncrementalStore) throws -> AnyObject? {
    if let parent { return try parent.performAndWait { try parent.pinnedState(of: store) } }
    guard !isSaving, let pinned = generation, let coordinator = persistentStoreCoordinator else { return nil }
    if pinned === NSQueryGenerationToken.current { generation = try NSQueryGenerationToken(of: coordinator) }
    return generation?.state(of: store)
  }

  /// Has a pinned context read what was saved last, and stay at that.
  func advanceGeneration() {
    if generation != nil { generation = .current }
  }
}
