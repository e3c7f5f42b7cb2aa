import Foundation

extension NSManagedObjectContext {
  /// Fetches objects, identifiers, dictionaries or a number, depending on the result type of the request.
  ///
  /// The results include unsaved changes unless the request excludes them; dictionaries always show the saved state.
  /// `T` must fit the result type; otherwise the program ends.
  ///
  /// - Throws: ``FetchRequestError`` for an invalid request; any error of a store.
  public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    checkQueue()
    return try throwingErrorsOfFaults { try results(of: request) }
  }

  /// The number of objects or dictionaries that a request would fetch.
  public func count<T>(for request: NSFetchRequest<T>) throws -> Int {
    checkQueue()
    return try throwingErrorsOfFaults { try count(prepared: prepared(request)) }
  }

  private func count(prepared request: NSFetchRequest<NSManagedObject>) throws -> Int {
    if request.resultType == .dictionaryResultType { return try stored(request).elements.count }
    let overlay = try PendingOverlay(request, self)
    guard overlay.isEmpty else {
      request.resultType = .managedObjectResultType
      return try objects(of: request, overlay).count
    }
    request.resultType = .countResultType
    return try storedCount(request)
  }

  /// Passes a request that is neither a fetch nor a save to the store that it affects, or begins an asynchronous fetch.
  ///
  /// - Returns: the store's result, which must be an `NSPersistentStoreResult`, or the ``NSAsynchronousFetchResult``.
  /// - Throws: ``NSPersistentStoreUnsupportedRequestTypeError`` for a fetch or a save, which is not executed, and if
  ///   the store returns anything else; any error of the store.
  public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    checkQueue()
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    if let request = request as? any AsynchronousFetch { return try request.begin(in: self) }
    guard !(request is any StoreFetch || request is NSSaveChangesRequest) else {
      throw CoreDataError.make(
        NSPersistentStoreUnsupportedRequestTypeError,
        "A \(type(of: request)) has no NSPersistentStoreResult. A context fetches by fetch(_:), and saves by save().")
    }
    guard let result = try coordinator.forward(request, self) as? NSPersistentStoreResult else {
      throw CoreDataError.make(
        NSPersistentStoreUnsupportedRequestTypeError,
        "The store gave no NSPersistentStoreResult for a request of the class \(type(of: request)).")
    }
    return result
  }

  // MARK: Steps

  private var noStores: NSError {
    CoreDataError.make(NSPersistentStoreOperationError, "\(label) has no coordinator.")
  }

  /// A copy of the request for the stores, with its entity set.
  private func prepared<T>(_ request: NSFetchRequest<T>) throws -> NSFetchRequest<NSManagedObject> {
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    let copy = NSFetchRequest<NSManagedObject>(copying: request)
    guard let entity = copy.entity ?? coordinator.managedObjectModel.entitiesByName[request.entityName ?? ""] else {
      throw CoreDataError.make(
        NSCoreDataError, "The model has no entity named \"\(request.entityName ?? "")\" to fetch objects of.")
    }
    copy.entity = entity
    copy.predicate = copy.predicate.map(withPermanentIDs)
    // Reject an invalid request before a store is called.
    try copy.check(for: entity)
    return copy
  }

  /// The predicate, with temporary identifiers replaced by permanent ones for objects that have been saved since.
  private func withPermanentIDs(_ predicate: NSPredicate) -> NSPredicate {
    guard registry.hasFormerIdentifiers || parent != nil else { return predicate }
    var replaced = 0
    func permanent(_ value: PredicateValue) -> PredicateValue {
      switch value {
      case .object(let id as NSManagedObjectID) where id.isTemporaryID:
        let known = registry[id]?.objectID ?? idInAncestors(id)
        guard !known.isTemporaryID else { return value }
        replaced += 1
        return .object(known)
      case .collection(let elements, let ordered): return .collection(elements.map(permanent), ordered: ordered)
      default: return value
      }
    }
    let result = Substitution(values: [:]) { constant in
      let before = replaced
      let value = permanent(PredicateValue(constant))
      return replaced > before ? value.anyValue : nil
    }.apply(to: predicate)
    return replaced > 0 ? result : predicate
  }

  private func results<T, Result>(of request: NSFetchRequest<T>) throws -> [Result] {
    func fitting<Found>(_ found: [Found]) -> [Result] {
      // A cast would look at each element.
      Found.self == Result.self ? unsafe unsafeBitCast(found, to: [Result].self) : cast(found)
    }
    func fittingAnswer(_ answer: StoreAnswer) -> [Result] {
      switch answer {
      case .objects(let objects): fitting(objects)
      case .ids(let ids): fitting(ids)
      case .others(let others): fitting(others)
      }
    }
    let request = try prepared(request)
    switch request.resultType {
    case .dictionaryResultType: return fittingAnswer(try stored(request))
    case .countResultType: return fitting([NSNumber(value: try count(for: request))])
    case .managedObjectIDResultType:
      let overlay = try PendingOverlay(request, self)
      let isInOneStore = try persistentStoreCoordinator.map { try !$0.isForSeveralStores(request) } ?? true
      // The results of several stores can only be sorted here as objects.
      if overlay.isEmpty, isInOneStore { return fittingAnswer(try stored(request)) }
      request.resultType = .managedObjectResultType
      return fitting(try objects(of: request, overlay).map(\.objectID))
    default:
      let isRead = !request.returnsObjectsAsFaults && request.fetchBatchSize == 0
      let objects =
        isRead ? try realisedObjects(of: request) : try objects(of: request, PendingOverlay(request, self))
      try prepare(objects, for: request)
      return fitting(objects)
    }
  }

  /// - Returns: The results as the type of the request. Ends the program if they have another type.
  @inline(never)
  private func cast<Found, Result>(_ found: [Found]) -> [Result] {
    if let results = found as? [Result] { return results }
    let other = found.first { !($0 is Result) }.map { "\(type(of: $0))" } ?? ""
    fatalError(
      "A request for \(Result.self) found \(other): they do not fit. "
        + "Make it an NSFetchRequest<NSFetchRequestResult>, and cast what is fetched.")
  }

  /// The identifiers of the objects that a request finds, in their order.
  func packedIDs<T>(of request: NSFetchRequest<T>) throws -> PackedIDs {
    let request = try prepared(request)
    request.resultType = .managedObjectResultType
    if let store = try onlyStore(of: request, PendingOverlay(request, self)) as? any PackedFetchStore,
      let coordinator = persistentStoreCoordinator
    {
      try coordinator.prepare(request, self)
      return try coordinator.withStoresToRead { try store.packedIDs(request, self) }
    }
    request.resultType = .managedObjectIDResultType
    return PackedIDs(try results(of: request))
  }

  /// The store that alone has the results of a request; nil if there are several, or if unsaved changes concern them.
  private func onlyStore(
    of request: NSFetchRequest<NSManagedObject>, _ overlay: PendingOverlay
  ) throws -> NSIncrementalStore? {
    guard parent == nil, overlay.isEmpty, let coordinator = persistentStoreCoordinator else { return nil }
    let stores = try coordinator.affectedStores(of: request)
    return stores.count == 1 ? stores[0] : nil
  }

  /// Has fetched objects read as a request asks for.
  func prepare<T>(_ objects: [NSManagedObject], for request: NSFetchRequest<T>) throws {
    let keyPaths = request.relationshipKeyPathsForPrefetching ?? []
    guard request.fetchBatchSize > 0 else { return try prefetch(keyPaths, of: objects) }
    formBatches(of: objects, size: request.fetchBatchSize, prefetching: keyPaths)
    if !keyPaths.isEmpty { try prefetch(keyPaths, of: objects.filter { !$0.isFault || $0.hasChanges }) }
  }

  // MARK: Asynchronous fetches

  /// Throws ``FetchRequestError`` if a request is invalid.
  func check<T>(_ request: NSFetchRequest<T>) throws { _ = try prepared(request) }

  /// Whether unsaved changes may change the results of a request.
  func hasChanges<T>(concerning request: NSFetchRequest<T>) throws -> Bool {
    guard request.resultType != .dictionaryResultType else { return false }
    return try !PendingOverlay(prepared(request), self).isEmpty
  }

  /// The objects with identifiers that a request has found.
  func results<T>(_ request: NSFetchRequest<T>, with ids: [NSManagedObjectID]) throws -> [NSManagedObject] {
    let objects = objects(with: ids)
    if !request.returnsObjectsAsFaults, request.fetchBatchSize == 0 { try realise(together: objects) }
    try throwingErrorsOfFaults { try prepare(objects, for: request) }
    return objects
  }

  /// The results of the stores or of the parent, in the order and the window of the request. Without sort descriptors,
  /// each store's results follow those of the store before.
  private func stored(_ request: NSFetchRequest<NSManagedObject>) throws -> StoreAnswer {
    try stored(request, for: self)
  }

  /// The results for this context, or for one of its descendants whose results include the unsaved changes of this
  /// context; dictionaries show what the stores have.
  private func stored(
    _ request: NSFetchRequest<NSManagedObject>, for reader: NSManagedObjectContext
  ) throws -> StoreAnswer {
    if reader !== self, request.resultType != .dictionaryResultType, let objects = try changedObjects(of: request) {
      let ids = try permanentIDs(of: objects)
      return request.resultType == .managedObjectIDResultType ? .ids(ids) : .objects(reader.objects(with: ids))
    }
    if let parent { return try parent.performAndWait { try parent.stored(request, for: reader) } }
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    reader.forgetFreed()
    let window = FetchWindow(request)
    let parts = try reader.registeringTogether {
      // The window applies to the results of all stores together, so each store has to return its first results up to
      // the end of the window.
      if try coordinator.isForSeveralStores(request) {
        request.fetchLimit = request.fetchLimit > 0 ? window.end : 0
        request.fetchOffset = 0
      }
      return try coordinator.fetch(request, reader)
    }
    guard parts.count > 1 else { return parts.first ?? .objects([]) }
    var results = parts.flatMap(\.elements)
    if request.resultType == .managedObjectResultType, let objects = results as? [NSManagedObject] {
      results = try ObjectOrder(request.sortDescriptors)?.sorted(objects) ?? objects
    } else if let dictionaries = results as? [NSDictionary], let descriptors = request.sortDescriptors {
      // Dictionaries are sorted by the columns that they have; sorting by a column that was not fetched has no effect.
      results = try CompiledSort(descriptors, reading: RowReader<NSDictionary>.columns).sorted(dictionaries)
    }
    return .others(window(results))
  }

  private func storedCount(_ request: NSFetchRequest<NSManagedObject>) throws -> Int {
    if let parent {
      return try parent.performAndWait {
        try parent.changedObjects(of: request)?.count ?? parent.storedCount(request)
      }
    }
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    var all = request
    if try coordinator.isForSeveralStores(request) {
      all = NSFetchRequest(copying: request)
      (all.fetchOffset, all.fetchLimit) = (0, 0)
    }
    let parts = try coordinator.fetch(all, self)
    let counts = try parts.map(\.elements).map { part in
      guard let count = (part.first as? NSNumber)?.intValue, part.count == 1 else {
        throw CoreDataError.make(
          NSPersistentStoreOperationError,
          "A store answered a request for a count with \(part), and not with one number.")
      }
      return count
    }
    guard counts.count > 1 else { return counts.first ?? 0 }
    let rest = max(0, counts.reduce(0, +) - max(0, request.fetchOffset))
    return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
  }

  /// The objects of the stores, with the unsaved changes applied.
  private func objects(
    of request: NSFetchRequest<NSManagedObject>, _ overlay: PendingOverlay
  ) throws -> [NSManagedObject] {
    let window = FetchWindow(request)
    if !overlay.isEmpty { overlay.widen(request) }
    let stored = try stored(request)
    guard let objects = stored.objects else {
      throw CoreDataError.make(
        NSPersistentStoreOperationError,
        "A store answered a request for objects with something else: \(stored.elements.prefix(1)).")
    }
    return overlay.isEmpty ? objects : window(try overlay.laid(over: objects, self))
  }

  /// The objects of a child's request, with the unsaved changes applied; nil if no change concerns the request.
  private func changedObjects(of request: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject]? {
    let overlay = try PendingOverlay(request, self)
    guard !overlay.isEmpty else { return nil }
    let request = NSFetchRequest<NSManagedObject>(copying: request)
    request.resultType = .managedObjectResultType
    return try throwingErrorsOfFaults { try objects(of: request, overlay) }
  }

  /// The fetched objects with their values, all of one moment: those that came with the fetch, or those that were read
  /// while the store lock kept others from saving through the coordinator.
  private func realisedObjects(of request: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] {
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    try coordinator.prepare(request, self)
    let fetched = try awakingRealised {
      try withQueuesOfAncestors {
        if let fetched = try coordinator.withStoresToRead({ try objectsWithFetchedRows(of: request) }) {
          return fetched
        }
        return try coordinator.withStoreLock {
          try realise(try objects(of: request, PendingOverlay(request, self)), coordinator)
        }
      }
    }
    for object in fetched { object.fireFault() }
    return fetched
  }

  /// The fetched objects with the rows that a single store gives with its answer; nil if it would not give all.
  private func objectsWithFetchedRows(of request: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject]? {
    let overlay = try PendingOverlay(request, self)
    guard request.includesPropertyValues, let coordinator = persistentStoreCoordinator,
      let store = try onlyStore(of: request, overlay), !(store is any LoadingStore)
    else { return nil }
    takesFetchedRows = true
    return try realise(try objects(of: request, overlay), coordinator)
  }

  /// Reads the rows of those objects that are faults. Objects whose rows cannot be read stay faults, and fire later,
  /// which throws in the end.
  private func realise(
    _ objects: [NSManagedObject], _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [NSManagedObject] {
    for object in objects where object.isFault && !coordinator.needsLoading(object.objectID) {
      if (try? object.takeRow(self)) != nil { unsafe realised.append(object) }
    }
    return objects
  }

  /// Runs a closure that realises objects, and calls their `awakeFromFetch()` afterwards. A block in a predicate may
  /// fetch meanwhile.
  private func awakingRealised<Result>(_ body: () throws -> Result) rethrows -> Result {
    let outer = unsafe (takesFetchedRows, realised)
    unsafe (takesFetchedRows, realised) = (false, [])
    defer {
      let objects = unsafe realised
      unsafe (takesFetchedRows, realised) = outer
      for object in objects { object.awakeFromFetch(in: self) }
    }
    return try body()
  }

  /// The objects of a fetched property of an object; nil if they cannot be fetched, and a call that can throw is
  /// reading values.
  func objects(of property: NSFetchedPropertyDescription, for object: NSManagedObject) -> [NSManagedObject]? {
    guard let given = property.fetchRequest else { return [] }
    let request = NSFetchRequest<NSManagedObject>(copying: given)
    request.predicate = given.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": object, "FETCHED_PROPERTY": property,
    ])
    do {
      return try fetch(request)
    } catch {
      handleUnreadable(object, error, property)
      return nil
    }
  }
}

extension NSFetchRequest {
  /// Fetches the results in the context whose block is running. Ends the program if no such block is running.
  public func execute() throws -> [ResultType] {
    guard let context = QueueOwnership.innermost else {
      fatalError("A request is executed in a block of a context's perform(_:) or performAndWait(_:).")
    }
    return try context.fetch(self)
  }
}
