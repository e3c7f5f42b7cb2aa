import IncrementalStore
public import OpenCoreData
import RowFormat

extension NSFetchRequest {
  /// Whether the fetch asks the service of a ``RemoteIncrementalStore``, and waits for the answer; nil for what the
  /// service says of the entity.
  public var freshness: RemoteFreshness? {
    get { storeSettings["freshness"] as? RemoteFreshness }
    set { storeSettings["freshness"] = newValue }
  }
}

extension RemoteIncrementalStore: LoadingStore {
  // MARK: Fetches

  package func prepare(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws {
    guard let name = request.entityName, let link else { return }
    let limits = request.freshness ?? link.service.freshness(of: name)
    guard limits != .cached, let (query, needed) = query(for: request) else { return }
    let freshness = try limits ?? .standard(for: link.state(of: query, name))
    let needsValues = request.predicate != nil || request.sortDescriptors?.isEmpty == false
    guard try freshness.asksService(age: age(of: query, name, needed)) else { return }
    if freshness.timeLimit != nil { try checkMayWait(for: link.service) }
    let answer = link.refresh(query, name, needed, needsValues)
    guard let limit = freshness.timeLimit else { return }
    let result = answer.wait(seconds: limit)
    guard case .fromService = freshness else { return }
    switch result {
    case .success: return
    case .failure(let error):
      throw RemoteError.make("The fetch of \(name) has no answer of the service:", error)
    case nil: throw RemoteError.make("The fetch of \(name) has no answer of the service after \(limit) s.")
    }
  }

  /// The list that answers a request, and how many of its objects are needed; nil for all.
  func query(for request: NSFetchRequest<NSManagedObject>) -> (query: RemoteQuery, needed: Int?)? {
    guard
      let fetch = RemoteFetch(
        request,
        { id in
          try? self.link.read { rows in try rows.identifier(of: rows.access.reference(id)) }
        }), let query = link.service.query(for: fetch)
    else { return nil }
    let isServed =
      !query.hasOthers
      && (query.served.contains(.predicate) || fetch.predicate == nil)
      && (query.served.contains(.order) || fetch.order.isEmpty)
    return (query, isServed && fetch.limit > 0 ? fetch.offset + fetch.limit : nil)
  }

  /// How many seconds ago a list was read; infinite if it never was, or not far enough.
  private func age(of query: RemoteQuery, _ entityName: String, _ needed: Int?) throws -> Double {
    let state = try link.state(of: query, entityName)
    // A list that has expired has 0 or 1 there.
    guard state.readAt > 1, state.isComplete || needed.map({ state.count >= $0 }) ?? false else { return .infinity }
    return RemoteLink.now - state.readAt
  }

  /// Notes which objects of an answer are not loaded.
  func note(_ found: [Any]) {
    let objects = found.prefix(10_000).compactMap { result -> ObjectReference? in
      guard let id = NSManagedObjectID.identifying(result), needsLoading(id) else { return nil }
      return try? access.reference(id)
    }
    link.loads.note(together: objects)
  }

  // MARK: Faults

  package func needsLoading(_ objectID: NSManagedObjectID) -> Bool {
    guard let bytes = rowBytes(of: objectID), FieldReader.isPartial(bytes),
      let map = access.schema[objectID.entity]
    else { return false }
    return (try? access.isUnloaded(bytes, map)) ?? false
  }

  package func prepareValues(of objectIDs: [NSManagedObjectID], _ context: NSManagedObjectContext) throws {
    guard !objectIDs.isEmpty else { return }
    var unloaded: [ObjectReference] = []
    var partial: [ObjectReference] = []
    try persistentStoreCoordinator?.performAndWait {
      for id in objectIDs {
        guard let bytes = rowBytes(of: id), FieldReader.isPartial(bytes), let map = access.schema[id.entity] else {
          continue
        }
        if try access.isUnloaded(bytes, map) {
          unloaded.append(try access.reference(id))
        } else {
          partial.append(try access.reference(id))
        }
      }
    }
    if !partial.isEmpty, !link.loads.isUnsupported { _ = link.load(partial) }
    guard !unloaded.isEmpty else { return }
    if MainQueue.isCurrent {
      _ = link.load(unloaded)
    } else {
      try checkMayWait(for: link.service)
      // A fault cannot throw. If the service does not answer, its values are nil, as on the main queue.
      try? load(unloaded)
    }
  }

  /// Has objects loaded, and waits for that.
  private func load(_ objects: [ObjectReference]) throws {
    let end = Date(timeIntervalSinceNow: Self.faultTimeLimit)
    for answer in link.load(objects) {
      switch answer.wait(seconds: max(0, end.timeIntervalSinceNow)) {
      case .success: continue
      case .failure(RemoteFailure.gone): continue
      case .failure(let error): throw RemoteError.make("An object could not be loaded:", error)
      case nil: throw RemoteError.make("An object was not loaded after \(Self.faultTimeLimit) s.")
      }
    }
  }

  package func requireWhole(_ objectID: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> Bool {
    guard needsLoading(objectID) else { return false }
    guard !MainQueue.isCurrent else {
      _ = link.load([try access.reference(objectID)])
      throw RemoteError.make("The object \(objectID.uriRepresentation()) is not loaded yet.")
    }
    try checkMayWait(for: link.service)
    try load([try access.reference(objectID)])
    guard !needsLoading(objectID) else {
      throw RemoteError.make("The service says nothing of the object \(objectID.uriRepresentation()).")
    }
    return true
  }

  // MARK: Relationships

  package func prepare(
    _ relationship: NSRelationshipDescription, of objectID: NSManagedObjectID, _ context: NSManagedObjectContext
  ) throws {
    guard relationship.isToMany, let link, let map = access.schema[objectID.entity],
      let set = map.set(named: relationship.name), !link.memberLoads.isUnsupported(set.end.number)
    else { return }
    let owner = try access.reference(objectID)
    let isUnknown = try link.read { rows in
      guard let origin = try rows.origin(of: owner), origin.identifier != nil, !origin.isWaiting else { return false }
      return !origin.knownSets.contains(UInt64(set.end.number))
    }
    guard isUnknown else { return }
    let answer = link.loadMembers(relationship.name, of: owner, set.end.number)
    guard !MainQueue.isCurrent else { return }
    try checkMayWait(for: link.service)
    // What is known of the members is an answer, too, if the service gives none.
    _ = answer.wait(seconds: Self.faultTimeLimit)
  }
}

extension RemoteFreshness {
  /// What counts for a list without limits of the application.
  fileprivate static func standard(for list: Lists.State) -> RemoteFreshness {
    list.freshFor.map { .refreshing(ifOlderThan: $0) } ?? .standard
  }

  /// Whether what was read so many seconds ago is too old.
  fileprivate func asksService(age: Double) -> Bool {
    switch self {
    case .cached: false
    case .refreshing(let limit), .waiting(let limit, _): age >= limit
    case .fromService: true
    }
  }

  /// How long a fetch waits; nil if it does not.
  fileprivate var timeLimit: Double? {
    switch self {
    case .cached, .refreshing: nil
    case .waiting(_, let limit), .fromService(let limit): limit
    }
  }
}

extension RemoteLink {
  /// What is known of a list.
  func state(of query: RemoteQuery, _ entityName: String) throws -> Lists.State {
    let key = query.key(of: entityName)
    if let state = lists[key] { return state }
    let state = try read { rows in
      guard let result = try rows.result(key) else { return Lists.State(readAt: 0, count: 0, isComplete: false) }
      let count = try rows.objects(of: result, generation: result.generation, pages: result.pages).count
      return Lists.State(
        readAt: result.readAt, count: count, isComplete: result.isComplete, freshFor: result.freshFor)
    }
    return lists.note(state, key)
  }

  /// Has a list read, unless it is being read. Returns the answer to wait for.
  @discardableResult
  func refresh(_ query: RemoteQuery, _ entityName: String, _ needed: Int?, _ needsValues: Bool) -> Answer {
    let key = query.key(of: entityName)
    let (answer, isFirst) = lists.begin(key)
    guard isFirst else { return answer }
    begin { link in
      link.events.post(.refreshBegan(entityName: entityName, list: query.name))
      do {
        var reading = ListReading(
          link: link, query: query, entityName: entityName, needed: needed, needsValues: needsValues)
        let read = try await reading.run()
        link.lists.end(key, .success(read))
        link.events.post(.refreshEnded(entityName: entityName, list: query.name))
      } catch {
        link.lists.end(key, .failure(error))
        link.events.post(.refreshFailed(entityName: entityName, list: query.name, error))
      }
    } orElse: {
      lists.end(key, .failure(StoreIsGone()))
    }
    return answer
  }
}
