#if HTTP
  import NIOHTTP1
  public import RemoteIncrementalStore

  extension HTTPService {
    /// A page of a list. A list has a tag only if it is one page: the tag of a page says nothing about the others.
    public func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
      let (entity, path) = try collection(query.name)
      let url = address.url(path, query.parameters)
      if let growth = entity.growth { return try await page(of: entity, growth, at: url, after: cursor) }
      return try await page(of: entity, at: url, after: cursor, ifNot: tag)
    }

    /// A page of the list at ``HTTPRelationship/membersPath``.
    public func members(
      of relationship: String, of owner: RemoteIdentifier, after cursor: String?
    ) async throws -> RemotePage {
      guard let relationship = entities[owner.entityName]?.relationships[relationship],
        let template = relationship.membersPath, let entity = entities[relationship.entityName]
      else { throw RemoteFailure.unsupported }
      let parameters = description.pageSizeParameter.map { [$0: "\(description.pageSize)"] } ?? [:]
      let url = try address.url(template: template, parameters, of: owner)
      return try await page(of: entity, at: url, after: cursor)
    }

    /// What ``HTTPDescription/feed`` says.
    public func changes(since cursor: String?) async throws -> RemoteChanges {
      guard let feed = description.feed else { throw RemoteFailure.unsupported }
      let url = address.url(feed.path, cursor.map { [feed.parameter: $0] } ?? [:])
      let json: JSONValue
      do {
        json = try await transport.answer(to: Request(method: .GET, url: url)).succeeded().json()
      } catch RemoteFailure.gone where cursor != nil {
        var changes = try await changes(since: nil)
        changes.hasGap = true
        return changes
      }
      guard let next = json[feed.cursorKey]?.text else { throw RemoteFailure.invalidAnswer("there is no cursor") }
      var changes = RemoteChanges(cursor: next)
      changes.isLast = feed.moreKey.flatMap { json[$0] } != .bool(true)
      var reader = RecordReader(entities)
      for entity in entities.values.sorted(by: { $0.name < $1.name }) {
        if let key = feed.records[entity.name], let array = json[key] {
          changes.records += try reader.records(array, entity)
        }
        if let key = feed.deleted[entity.name], case .array(let identifiers)? = json[key] {
          changes.deleted += try identifiers.map { try reader.identifier($0, entity.name) }
        }
      }
      changes.records = reader.included + changes.records
      return changes
    }

    /// A page of the list at a URL.
    func page(
      of entity: HTTPEntity, at list: String, after cursor: String?, ifNot tag: String? = nil
    ) async throws -> RemotePage {
      var request = Request(method: .GET, url: try url(of: list, after: cursor))
      if cursor == nil, let tag { request.headers["If-None-Match"] = tag }
      let answer = try await transport.answer(to: request)
      if answer.status == 304, cursor == nil, tag != nil { return .unchanged(freshFor: answer.freshFor) }
      if case .numbers = description.paging, cursor != nil, answer.status == 404 { return RemotePage() }
      let json = try answer.succeeded().json()
      var reader = RecordReader(entities)
      let records = try reader.records(json.at(entity.listKey ?? description.listKey), entity)
      let next = try next(after: cursor, at: request.url, answer, json, isEmpty: records.isEmpty)
      return RemotePage(
        records, included: reader.included, next: next, tag: cursor == nil && next == nil ? answer.tag : nil,
        freshFor: answer.freshFor)
    }

    /// The URL of a page.
    private func url(of list: String, after cursor: String?) throws -> String {
      guard let cursor else { return list }
      switch description.paging {
      case .none: throw RemoteFailure.invalidAnswer("a list has one page")
      case .link, .cursor(_, parameter: nil): return try address.url(following: cursor, from: list)
      case .cursor(_, let parameter?), .numbers(let parameter, _):
        return address.adding([parameter: cursor], to: list)
      }
    }

    /// Where the next page begins; nil behind the last one.
    private func next(
      after cursor: String?, at url: String, _ answer: Answer, _ json: JSONValue, isEmpty: Bool
    ) throws -> String? {
      switch description.paging {
      case .none: return nil
      case .link:
        let link = Link.target(rel: "next", in: answer.headers["Link"])
        return try link.map { try address.url(following: $0, from: url) }
      case .cursor(let key, let parameter):
        guard let next = json[key]?.text, !next.isEmpty else { return nil }
        return parameter == nil ? try address.url(following: next, from: url) : next
      case .numbers(_, let first):
        guard let number = cursor.map(Int.init) ?? first else {
          throw RemoteFailure.invalidAnswer("a cursor is no number")
        }
        return isEmpty ? nil : "\(number + 1)"
      }
    }
  }
#endif
