/// Services that are asked one after the other.
///
/// Each fetch is answered by the first service that has a list for it, and each object, relationship and change feed is
/// read from the first service that offers it. Changes are sent to the last service, which also gives new objects their
/// identifiers, and alone decides that an object does not exist any more. All services call objects by the same
/// identifiers.
///
///     RemoteChain([MirrorService(), BugService()])
public struct RemoteChain: RemoteService {
  private let services: [any RemoteService]
  private let last: any RemoteService

  /// - Parameter services: The services, at least one.
  public init(_ services: [any RemoteService]) {
    guard let last = services.last else { fatalError("A chain of services needs at least one service.") }
    (self.services, self.last) = (services, last)
  }

  /// The first list that a service has for the fetch.
  public func query(for fetch: RemoteFetch) -> RemoteQuery? {
    for (place, service) in services.enumerated() {
      guard var query = service.query(for: fetch) else { continue }
      query.name = "\(place) \(query.name)"
      return query
    }
    return nil
  }

  /// The page as the service of the list has it.
  public func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
    let parts = query.name.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let place = Int(parts[0]), services.indices.contains(place) else {
      throw RemoteFailure.unsupported
    }
    var own = query
    own.name = String(parts[1])
    return try await services[place].page(of: own, after: cursor, ifNot: tag)
  }

  /// What the services have of the objects, each asked for those that the ones before it do not have.
  public func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords {
    var (all, rest) = (RemoteRecords(), wanted)
    for (place, service) in services.enumerated() where !rest.isEmpty {
      let isLast = place == services.count - 1
      do {
        let answer = try await service.records(rest)
        all.found += answer.found
        all.included += answer.included
        all.unchanged += answer.unchanged
        if isLast { all.gone = answer.gone }
        let known = Set(answer.found.map(\.identifier) + answer.unchanged)
        rest.removeAll { known.contains($0.identifier) }
      } catch RemoteFailure.unsupported where !isLast || !all.found.isEmpty {
        continue
      }
    }
    return all
  }

  /// The members as the first service has them that offers the relationship.
  public func members(
    of relationship: String, of owner: RemoteIdentifier, after cursor: String?
  ) async throws -> RemotePage {
    for service in services.dropLast() {
      do {
        return try await service.members(of: relationship, of: owner, after: cursor)
      } catch RemoteFailure.unsupported {
        continue
      }
    }
    return try await last.members(of: relationship, of: owner, after: cursor)
  }

  /// Sends the changes to the last service.
  public func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] { try await last.send(changes) }

  /// The changes of the last service.
  public func changes(since cursor: String?) async throws -> RemoteChanges { try await last.changes(since: cursor) }

  /// As the last service has it.
  public func record(madeBy change: RemoteChange) async throws -> RemoteRecord? {
    try await last.record(madeBy: change)
  }

  /// As the last service chooses it.
  public func identifier(forNew entityName: String, values: [String: RemoteValue]) -> String? {
    last.identifier(forNew: entityName, values: values)
  }

  /// What the last service offers.
  public var repeating: RemoteRepeating { last.repeating }

  /// As the last service has it.
  public var changesPerRequest: Int { last.changesPerRequest }

  /// As the last service has it.
  public func freshness(of entityName: String) -> RemoteFreshness? { last.freshness(of: entityName) }

  /// Whether one of the services needs the main thread.
  public var needsMainThread: Bool { services.contains { $0.needsMainThread } }
}
