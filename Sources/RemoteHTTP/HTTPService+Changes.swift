#if HTTP
  import Foundation
  import NIOHTTP1
  public import RemoteIncrementalStore

  /// A change, and the request that makes it.
  struct PreparedChange: Sendable {
    let change: RemoteChange
    let entity: HTTPEntity
    let request: Request
    let body: JSONValue?
  }

  extension HTTPService {
    /// Sends each change as a request: `POST` to the collection, `PATCH` or `PUT` and `DELETE` to the object. Each has
    /// the header `Idempotency-Key`. If there is an ``HTTPDescription/batch``, several are one request.
    public func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
      var outcomes: [RemoteOutcome] = []
      var requests: [(place: Int, prepared: PreparedChange)] = []
      for (place, change) in changes.enumerated() {
        do {
          if let prepared = try prepared(change) { requests.append((place, prepared)) }
          outcomes.append(.accepted(nil))
        } catch RemoteFailure.refused(let reason) {
          outcomes.append(.refused(reason))
        } catch {
          outcomes.append(.refused("\(change.entityName): the values have no form in JSON"))
        }
      }
      let sent: [RemoteOutcome]
      if let batch = description.batch, requests.count > 1 {
        sent = try await self.outcomes(of: requests.map(\.prepared), batch)
      } else {
        var answered: [RemoteOutcome] = []
        for (_, prepared) in requests {
          answered.append(try outcome(of: prepared, try await transport.answer(to: prepared.request)))
        }
        sent = answered
      }
      for (request, outcome) in zip(requests, sent) { outcomes[request.place] = outcome }
      return outcomes
    }

    /// The request that makes a change; nil if there is nothing to send.
    private func prepared(_ change: RemoteChange) throws -> PreparedChange? {
      guard let entity = entities[change.entityName], let path = entity.path else {
        throw RemoteFailure.refused("\(change.entityName) can only be read")
      }
      var request: Request
      var body: JSONValue?
      switch (change.kind, change.identifier) {
      case (.insert, nil):
        request = Request(method: .POST, url: address.url(path))
        body = try values.body(change, entity)
      case (.insert, let identifier?):
        request = Request(method: .PUT, url: try address.url(path, of: identifier))
        body = try values.body(change, entity, identifier: identifier.value)
      case (.update, let identifier?):
        body = try values.body(change, entity)
        if body == nil { return nil }
        request = Request(
          method: HTTPMethod(rawValue: description.updateMethod.rawValue), url: try address.url(path, of: identifier))
      case (.delete, let identifier?):
        request = Request(method: .DELETE, url: try address.url(path, of: identifier))
      case (_, nil): throw RemoteFailure.refused("\(entity.name): a change of an object without an identifier")
      }
      request.headers["Idempotency-Key"] = ValueWriter.key(of: change)
      request.body = try body?.data()
      if body != nil { request.headers["Content-Type"] = "application/json" }
      if change.kind != .insert, let tag = change.tag { request.headers["If-Match"] = tag }
      return PreparedChange(change: change, entity: entity, request: request, body: body)
    }

    /// What the answer to a change means.
    func outcome(of prepared: PreparedChange, _ answer: Answer) throws -> RemoteOutcome {
      let (change, entity) = (prepared.change, prepared.entity)
      switch answer.status {
      case 200..<300: return .accepted(try accepted(change, entity, answer))
      case 404 where change.kind != .insert, 410 where change.kind != .insert: return .gone
      case 409 where change.identifier != nil, 412 where change.identifier != nil:
        return .conflict(current(change, entity, answer))
      case _ where answer.asksToWait: return .later(answer.retryAfter)
      case 501: return .refused(answer.reason)
      case 500...: throw RemoteFailure.answerLost(answer.reason)
      default: return .refused(answer.reason)
      }
    }

    /// The object as an answer to a change has it.
    private func accepted(_ change: RemoteChange, _ entity: HTTPEntity, _ answer: Answer) throws -> RemoteRecord? {
      guard change.kind != .delete else { return nil }
      let json = answer.body.isEmpty ? nil : try answer.json().at(description.objectKey)
      guard let json, json[entity.identifierKey] != nil else {
        guard change.kind == .insert else { return nil }
        // What was chosen here, or the last part of the new object's URL.
        let place = answer.headers.first(name: "Location").flatMap { URL(string: $0)?.lastPathComponent }
        guard let identifier = change.identifier ?? place.map({ RemoteIdentifier(entity.name, $0) }) else {
          throw RemoteFailure.invalidAnswer("\(answer.request): the answer does not identify the new object")
        }
        return RemoteRecord(identifier)
      }
      var reader = RecordReader(entities)
      let record = try reader.record(json, entity, tag: answer.tag)
      guard change.identifier.map({ record.identifier.isSame(as: $0, entity) }) ?? true else {
        throw RemoteFailure.invalidAnswer("\(answer.request): the answer is another object, \(record.identifier)")
      }
      return record
    }

    /// The present object, if the answer that there is a conflict has it.
    private func current(_ change: RemoteChange, _ entity: HTTPEntity, _ answer: Answer) -> RemoteRecord? {
      var reader = RecordReader(entities)
      guard let json = try? answer.json().at(description.objectKey),
        let record = try? reader.record(json, entity, tag: answer.tag), let identifier = change.identifier,
        record.identifier.isSame(as: identifier, entity)
      else { return nil }
      return record
    }
  }
#endif
