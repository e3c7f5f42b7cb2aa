import Foundation

extension NSManagedObjectContext {
  /// What a request asks for: objects, identifiers, dictionaries or a number, as its result type says.
  ///
  /// Changes that are not saved yet are taken into account unless the request says otherwise; dictionaries are of what is saved. The
  /// type of the request's results must fit the result type.
  ///
  /// - Throws: ``FetchRequestError`` for a request that makes no sense; what a store throws.
  public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    checkQueue()
    return try results(of: request).map { result in
      guard let result = result as? T else {
        preconditionFailure(
          "A request for \(T.self) found \(type(of: result)): they do not fit. "
            + "Make it an NSFetchRequest<NSFetchRequestResult>, and cast what is fetched.")
      }
      return result
    }
  }

  /// How many objects or dictionaries a request would fetch.
  public func count<T>(for request: NSFetchRequest<T>) throws -> Int {
    checkQueue()
    let request = try prepared(request)
    if request.resultType == .dictionaryResultType { return try results(of: request).count }
    let overlay = PendingOverlay(request, self)
    guard overlay.isEmpty else {
      request.resultType = .managedObjectResultType
      return try objects(of: request, overlay).count
    }
    request.resultType = .countResultType
    return try count(request)
  }

  /// Has the coordinator's stores carry out a request.
  ///
  /// - Returns: what a store returns for a request that is neither for fetching nor for saving; it must be an `NSPersistentStoreResult`.
  public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    checkQueue()
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    guard let result = try coordinator.execute(request, with: self) as? NSPersistentStoreResult else {
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

  /// A copy that a store is handed, with its entity.
  private func prepared<T>(_ request: NSFetchRequest<T>) throws -> NSFetchRequest<NSManagedObject> {
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    let copy = NSFetchRequest<NSManagedObject>(copying: request)
    guard let entity = copy.entity ?? coordinator.managedObjectModel.entitiesByName[request.entityName ?? ""] else {
      throw CoreDataError.make(
        NSCoreDataError, "The model has no entity named \"\(request.entityName ?? "")\" to fetch objects of.")
    }
    copy.entity = entity
    copy.predicate = copy.predicate.map(withPermanentIDs)
    // What makes no sense is refused before a store is asked.
    _ = try CompiledFetch(copy, of: entity, reading: RowReader<NSManagedObject>.keyed)
    return copy
  }

  /// The predicate with the identifiers that objects have now in the place of those that they had before they were
  /// saved.
  private func withPermanentIDs(_ predicate: NSPredicate) -> NSPredicate {
    guard registry.hasFormerIdentifiers else { return predicate }
    var replaced = 0
    func permanent(_ value: PredicateValue) -> PredicateValue {
      switch value {
      case .object(let id as NSManagedObjectID) where id.isTemporaryID:
        guard let known = registry[id]?.objectID, !known.isTemporaryID else { return value }
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

  private func results<T>(of request: NSFetchRequest<T>) throws -> [Any] {
    let request = try prepared(request)
    switch request.resultType {
    case .dictionaryResultType: return try stored(request)
    case .countResultType: return [NSNumber(value: try count(for: request))]
    case .managedObjectIDResultType:
      let overlay = PendingOverlay(request, self)
      let isInOneStore = try persistentStoreCoordinator.map { try $0.affectedStores(of: request).count < 2 } ?? true
      // Objects of several stores are put in order here.
      if overlay.isEmpty, isInOneStore { return try stored(request) }
      request.resultType = .managedObjectResultType
      return try objects(of: request, overlay).map(\.objectID)
    default:
      let objects =
        request.returnsObjectsAsFaults
        ? try objects(of: request, PendingOverlay(request, self)) : try realisedObjects(of: request)
      for path in request.relationshipKeyPathsForPrefetching ?? [] { prefetch(path, of: objects) }
      return objects
    }
  }

  /// What the stores have, one store's results behind the other's; in order and in the window of the request.
  private func stored(_ request: NSFetchRequest<NSManagedObject>) throws -> [Any] {
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    forgetFreed()
    let window = FetchWindow(request)
    let parts = try registeringTogether {
      // What each store leaves out is not what all of them leave out.
      if try coordinator.affectedStores(of: request).count > 1 {
        request.fetchLimit = request.fetchLimit > 0 ? max(0, request.fetchOffset) + request.fetchLimit : 0
        request.fetchOffset = 0
      }
      return try coordinator.fetch(request, self)
    }
    guard parts.count > 1 else { return parts.first ?? [] }
    var results = parts.flatMap { $0 }
    if request.resultType == .managedObjectResultType, let objects = results as? [NSManagedObject] {
      results = try ObjectOrder(request.sortDescriptors)?.sorted(objects) ?? objects
    } else if let dictionaries = results as? [NSDictionary], let descriptors = request.sortDescriptors {
      // By what they have: what was not fetched is in no order.
      results = try CompiledSort(descriptors, reading: RowReader<NSDictionary>.columns).sorted(dictionaries)
    }
    return window(results)
  }

  private func count(_ request: NSFetchRequest<NSManagedObject>) throws -> Int {
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    let all = NSFetchRequest<NSManagedObject>(copying: request)
    if try coordinator.affectedStores(of: request).count > 1 { (all.fetchOffset, all.fetchLimit) = (0, 0) }
    let parts = try coordinator.fetch(all, self)
    let counts = try parts.map { part in
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

  /// The objects of the stores, with the changes that are not saved laid over them.
  private func objects(
    of request: NSFetchRequest<NSManagedObject>, _ overlay: PendingOverlay
  ) throws -> [NSManagedObject] {
    let window = FetchWindow(request)
    if !overlay.isEmpty { overlay.widen(request) }
    let stored = try stored(request)
    guard let objects = stored as? [NSManagedObject] else {
      throw CoreDataError.make(
        NSPersistentStoreOperationError,
        "A store answered a request for objects with something else: \(stored.prefix(1)).")
    }
    return overlay.isEmpty ? objects : window(try overlay.laid(over: objects))
  }

  /// The objects with their values, which are of one moment: nobody else saves through the coordinator between the fetch
  /// and the reading of the last row.
  private func realisedObjects(of request: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] {
    guard let coordinator = persistentStoreCoordinator else { throw noStores }
    var realised: [NSManagedObject] = []
    let fetched = try coordinator.withStoreLock {
      let fetched = try objects(of: request, PendingOverlay(request, self))
      for object in fetched where object.isFault {
        // Those whose rows cannot be read fire below.
        if (try? object.takeRow(self)) != nil { realised.append(object) }
      }
      return fetched
    }
    for object in realised { object.awake { $0.awakeFromFetch() } }
    for object in fetched { object.fireFault() }
    return fetched
  }

  /// Reads the rows of the objects at the end of a key path, and on the way.
  private func prefetch(_ path: String, of objects: [NSManagedObject]) {
    var objects = objects
    for key in path.split(separator: ".") {
      var related = ObjectList()
      for object in objects {
        switch object.value(forKey: String(key)) {
        case let one as NSManagedObject: related.append(one)
        case let set as NSSet: for case let each as NSManagedObject in set { related.append(each) }
        case let set as NSOrderedSet: for case let each as NSManagedObject in set { related.append(each) }
        default: break
        }
      }
      objects = related.elements
      for object in objects { object.fireFault() }
    }
  }

  /// What a fetched property of an object has.
  func objects(of property: NSFetchedPropertyDescription, for object: NSManagedObject) -> [NSManagedObject] {
    guard let given = property.fetchRequest else { return [] }
    let request = NSFetchRequest<NSManagedObject>(copying: given)
    request.predicate = given.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": object, "FETCHED_PROPERTY": property,
    ])
    do {
      return try fetch(request)
    } catch {
      preconditionFailure("The fetched property \(property.name) cannot be fetched: \(error)")
    }
  }
}

extension NSFetchRequest {
  /// What the request asks for, in the context whose block is running.
  public func execute() throws -> [ResultType] {
    guard let context = QueueOwnership.innermost else {
      preconditionFailure("A request is executed in a block of a context's perform(_:) or performAndWait(_:).")
    }
    return try context.fetch(self)
  }
}
