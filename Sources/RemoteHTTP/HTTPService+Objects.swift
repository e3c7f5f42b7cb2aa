#if HTTP
  import NIOHTTP1
  public import RemoteIncrementalStore

  extension HTTPService {
    /// Objects by their identifiers: eight requests at a time, or one for as many as a URL of 4,000 characters can
    /// name, if there is a parameter for that. If some requests have failed, the answer has those that have not.
    public func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords {
      var requests: [@Sendable () async throws -> RemoteRecords] = []
      for (name, references) in Dictionary(grouping: wanted, by: \.identifier.entityName) {
        let (entity, path) = try collection(name)
        var alone = references
        if let parameter = entity.identifiersParameter {
          // With a comma it would be taken for two.
          alone = references.filter { $0.identifier.value.contains(",") }
          let together = references.map(\.identifier).filter { !$0.value.contains(",") }
          requests += Self.divided(together).map { identifiers in
            { try await self.records(identifiers, entity, self.address.url(path), parameter) }
          }
        }
        requests += alone.map { reference in { try await self.record(reference, entity, path) } }
      }
      return try await Self.all(requests)
    }

    /// One object.
    private func record(
      _ reference: RemoteReference, _ entity: HTTPEntity, _ path: String
    ) async throws -> RemoteRecords {
      var request = Request(method: .GET, url: try address.url(path, of: reference.identifier))
      if let tag = reference.tag { request.headers["If-None-Match"] = tag }
      let answer = try await transport.answer(to: request)
      if answer.status == 304, reference.tag != nil { return RemoteRecords(unchanged: [reference.identifier]) }
      do {
        var reader = RecordReader(entities)
        let json = try answer.succeeded().json().at(description.objectKey) ?? .null
        let record = try reader.record(json, entity, tag: answer.tag)
        guard record.identifier.isSame(as: reference.identifier, entity) else {
          throw RemoteFailure.invalidAnswer("\(request.name): the answer is another object, \(record.identifier)")
        }
        return RemoteRecords([record], included: reader.included)
      } catch RemoteFailure.gone {
        return RemoteRecords(gone: [reference.identifier])
      }
    }

    /// Objects of a list that a parameter selects, with all its pages.
    private func records(
      _ wanted: [RemoteIdentifier], _ entity: HTTPEntity, _ list: String, _ parameter: String
    ) async throws -> RemoteRecords {
      var parameters = [parameter: wanted.map(\.value).joined(separator: ",")]
      if let size = description.pageSizeParameter { parameters[size] = "\(description.pageSize)" }
      let url = address.adding(parameters, to: list)
      var (records, cursor) = (RemoteRecords(), String?.none)
      repeat {
        let page = try await page(of: entity, at: url, after: cursor)
        records.found += page.records
        records.included += page.included
        guard page.next == nil || page.next != cursor else {
          throw RemoteFailure.invalidAnswer("a page is followed by itself")
        }
        cursor = page.next
      } while cursor != nil
      let found = Set(records.found.map(\.identifier.value))
      records.gone = wanted.filter { !found.contains($0.value) }
      return records
    }

    /// Identifiers in groups that a URL can have.
    private static func divided(_ identifiers: [RemoteIdentifier]) -> [[RemoteIdentifier]] {
      var (groups, length) = ([[RemoteIdentifier]](), 0)
      for identifier in identifiers {
        let more = identifier.value.utf8.count + 1
        if groups.isEmpty || length + more > 4000 {
          groups.append([])
          length = 0
        }
        groups[groups.count - 1].append(identifier)
        length += more
      }
      return groups
    }

    /// The answers of requests, eight at a time. The first failure is thrown if nothing was found out, or if the
    /// account is not accepted.
    private static func all(_ requests: [@Sendable () async throws -> RemoteRecords]) async throws -> RemoteRecords {
      try await withThrowingTaskGroup(of: RemoteRecords.self) { group in
        var (rest, failure) = (requests[...], RemoteFailure?.none)
        for request in rest.prefix(8) { group.addTask { try await request() } }
        rest = rest.dropFirst(8)
        var records = RemoteRecords()
        while let result = await group.nextResult() {
          switch result {
          case .success(let more):
            records.add(more)
          case .failure(let error):
            guard let error = error as? RemoteFailure else { throw error }
            if case .unauthorized = error { throw error }
            failure = failure ?? error
            if error.concernsAll { rest = [] }
          }
          if let request = rest.popFirst() { group.addTask { try await request() } }
        }
        if let failure, records == RemoteRecords() { throw failure }
        return records
      }
    }
  }

  extension RemoteIdentifier {
    /// Whether an object is the one that was asked for. Entities with one collection have no identifier in common.
    func isSame(as other: RemoteIdentifier, _ entity: HTTPEntity) -> Bool {
      self == other || entity.family != nil && value == other.value
    }
  }

  extension RemoteFailure {
    /// Whether other requests would fail likewise.
    fileprivate var concernsAll: Bool {
      switch self {
      case .unreachable, .answerLost, .later, .unauthorized, .unsupported: true
      case .gone, .refused, .invalidAnswer, .unsettled: false
      }
    }
  }

  extension RemoteRecords {
    fileprivate mutating func add(_ other: RemoteRecords) {
      found += other.found
      unchanged += other.unchanged
      gone += other.gone
      included += other.included
    }
  }
#endif
