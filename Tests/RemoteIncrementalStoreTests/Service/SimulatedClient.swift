import Foundation
import RemoteIncrementalStore

/// What one client sees of a simulated service.
struct SimulatedClient: RemoteService {
  let service: SimulatedService
  let number: Int

  private var options: ServiceOptions { service.options }

  var repeating: RemoteRepeating { options.repeating }
  var changesPerRequest: Int { options.changesPerRequest }
  func freshness(of entityName: String) -> RemoteFreshness? { options.freshness }

  func identifier(forNew entityName: String, values: [String: RemoteValue]) -> String? {
    options.repeating == .clientIdentifiers ? UUID().uuidString : nil
  }

  func query(for fetch: RemoteFetch) -> RemoteQuery? {
    var query = list(for: fetch)
    query?.hasOthers = options.listsHaveOthers
    return query
  }

  /// Bugs have lists by state, and one by title; all other fetches get the list of all objects of the entity.
  private func list(for fetch: RemoteFetch) -> RemoteQuery? {
    switch fetch.entityName {
    case "Tag":
      return RemoteQuery(
        "tags", isExhaustive: !options.hasIncrementalTags && !options.pagesByIndex,
        template: options.hasIncrementalTags ? .incremental : .reload)
    case "Bug":
      if case .comparison("state", .equal, .string(let state), ignoringCase: false) = fetch.predicate {
        return RemoteQuery("bugs", parameters: ["state": state], served: .predicate)
      }
      if fetch.predicate == nil, fetch.order == [RemoteOrder("title")] {
        return RemoteQuery("bugs", parameters: ["order": "title"], served: .all)
      }
      return RemoteQuery("bugs", isExhaustive: !options.pagesByIndex)
    case "User": return RemoteQuery("users", isExhaustive: !options.pagesByIndex)
    default: return nil
    }
  }

  func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
    try await service.handle(SimulatedRequest(client: number, what: .page(query, after: cursor, ifNot: tag))) {
      state in
      let entity = ["bugs": "Bug", "tags": "Tag", "users": "User"][query.name] ?? ""
      let listTag = state.listTag(of: entity)
      if cursor == nil, let tag, tag == listTag { return .unchanged(freshFor: state.freshFor) }
      var all = state.identifiers(of: entity)
      if let wanted = query.parameters["state"] {
        all = all.filter { state.things[$0]?.values["state"] == .string(wanted) }
      }
      if query.parameters["order"] == "title" {
        func title(_ identifier: RemoteIdentifier) -> String {
          if case .string(let title) = state.things[identifier]?.values["title"] { return title }
          return ""
        }
        all.sort { (title($0), $0.value.count, $0.value) < (title($1), $1.value.count, $1.value) }
      }
      let (part, next, isLast) =
        query.template == .incremental
        ? Self.newest(of: all, after: cursor, state)
        : Self.part(of: all, after: cursor, options, keepsOrder: query.parameters["order"] != nil)
      var page = RemotePage(
        part.compactMap { state.record($0, options.listed) }, next: next, isLast: isLast,
        tag: query.template == .incremental ? nil : listTag, freshFor: state.freshFor)
      if options.includesUsers, entity == "Bug" {
        let users = Set(
          part.compactMap { bug -> RemoteIdentifier? in
            if case .object(let user) = state.things[bug]?.values["assignee"] { return user }
            return nil
          })
        page.included = users.sorted(by: ServiceState.precedes).compactMap { state.record($0) }
      }
      return page
    }
  }

  /// A page of a list: begins at an index, or behind an object, by its identifier.
  private static func part(
    of all: [RemoteIdentifier], after cursor: String?, _ options: ServiceOptions, keepsOrder: Bool
  ) -> ([RemoteIdentifier], String?, Bool) {
    if options.pagesByIndex || keepsOrder {
      let start = min(cursor.flatMap(Int.init) ?? 0, all.count)
      let end = min(start + options.pageSize, all.count)
      return (Array(all[start..<end]), end < all.count ? "\(end)" : nil, end == all.count)
    }
    let rest = all.filter { identifier in
      guard let cursor else { return true }
      return (cursor.count, cursor) < (identifier.value.count, identifier.value)
    }
    let part = Array(rest.prefix(options.pageSize))
    let isLast = part.count == rest.count
    return (part, isLast ? nil : part.last?.value, isLast)
  }

  /// A page of a list that only grows at its end.
  private static func newest(
    of all: [RemoteIdentifier], after cursor: String?, _ state: ServiceState
  ) -> ([RemoteIdentifier], String?, Bool) {
    func place(_ identifier: RemoteIdentifier) -> Int { state.things[identifier]?.place ?? 0 }
    let start = cursor.flatMap(Int.init) ?? 0
    let rest = all.filter { place($0) > start }.sorted { place($0) < place($1) }
    let part = Array(rest.prefix(state.options.pageSize))
    return (part, "\(part.last.map(place) ?? start)", part.count == rest.count)
  }

  func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords {
    try await service.handle(SimulatedRequest(client: number, what: .records(wanted))) { state in
      var records = RemoteRecords()
      for reference in wanted {
        guard let record = state.record(reference.identifier) else {
          records.gone.append(reference.identifier)
          continue
        }
        if let tag = reference.tag, tag == record.tag {
          records.unchanged.append(reference.identifier)
        } else {
          records.found.append(record)
        }
      }
      return records
    }
  }

  func members(
    of relationship: String, of owner: RemoteIdentifier, after cursor: String?
  ) async throws -> RemotePage {
    try await service.handle(
      SimulatedRequest(client: number, what: .members(relationship, of: owner, after: cursor))
    ) { state in
      guard state.things[owner] != nil else { throw RemoteFailure.gone }
      let (part, next, isLast) = Self.part(
        of: state.members(of: relationship, of: owner), after: cursor, options, keepsOrder: false)
      return RemotePage(part.compactMap { state.record($0, options.listed) }, next: next, isLast: isLast)
    }
  }

  func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
    try await service.handle(SimulatedRequest(client: number, what: .send(changes))) { state in
      changes.map { change in
        if service.isBusy(change, number) { return .later(nil) }
        let outcome = state.apply(change)
        guard let title = state.lostTitle, change.values["title"] == title else { return outcome }
        return .lost("the answer had a hole")
      }
    }
  }

  func changes(since cursor: String?) async throws -> RemoteChanges {
    try await service.handle(SimulatedRequest(client: number, what: .changes(since: cursor))) { state in
      guard options.rememberedChanges > 0 else { throw RemoteFailure.unsupported }
      let end = state.log.count
      let start: Int
      if let cursor {
        start = Int(cursor) ?? 0
        if end - start > options.rememberedChanges { return RemoteChanges(cursor: "\(end)", hasGap: true) }
      } else {
        guard options.changesBeginWithEverything else { return RemoteChanges(cursor: "\(end)") }
        start = 0
      }
      let part = state.log[start..<min(start + options.changesPerPage, end)]
      var seen: Set<RemoteIdentifier> = []
      let identifiers = part.filter { seen.insert($0).inserted }
      return RemoteChanges(
        identifiers.compactMap { state.record($0, options.listed) },
        deleted: identifiers.filter { state.things[$0] == nil },
        cursor: "\(part.endIndex)", isLast: part.endIndex == end)
    }
  }

  func record(madeBy change: RemoteChange) async throws -> RemoteRecord? {
    try await service.handle(SimulatedRequest(client: number, what: .find(change))) { state in
      guard let applied = state.applied[change.key] else { return nil }
      guard let record = state.record(applied.identifier) else { throw RemoteFailure.gone }
      return record
    }
  }
}
