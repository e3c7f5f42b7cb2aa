#if HTTP
  import Foundation
  import NIOHTTP1
  import RemoteIncrementalStore

  extension HTTPService {
    /// What ``HTTPDescription/batch`` says; 1 without.
    public var changesPerRequest: Int { description.batch?.size ?? 1 }

    /// The outcomes of requests that make changes, sent as one.
    func outcomes(of all: [PreparedChange], _ batch: HTTPBatch) async throws -> [RemoteOutcome] {
      var request = Request(method: .POST, url: address.url(batch.path))
      var body = JSONValue.object([:])
      body.set(.array(all.map { $0.json(address) }), at: batch.changesKey ?? "")
      request.body = try body.data()
      request.headers["Content-Type"] = "application/json"
      let answer = try await transport.answer(to: request)
      switch answer.status {
      case 200..<300: break
      case _ where answer.asksToWait: return all.map { _ in .later(answer.retryAfter) }
      case 501: return all.map { _ in .refused(answer.reason) }
      case 500...: throw RemoteFailure.answerLost(answer.reason)
      default: return all.map { _ in .refused(answer.reason) }
      }
      guard case .array(let parts)? = try answer.json().at(batch.answersKey), parts.count == all.count else {
        throw RemoteFailure.invalidAnswer("\(answer.request): there is no answer to each change")
      }
      return zip(all, parts).map { prepared, part in
        do {
          return try outcome(of: prepared, try Answer(part, to: prepared.request, secrets: answer.secrets))
        } catch {
          return .lost("\(error)")
        }
      }
    }
  }

  extension PreparedChange {
    /// The request as a part of another one.
    fileprivate func json(_ address: Address) -> JSONValue {
      var json: [String: JSONValue] = [
        "method": .string(request.method.rawValue), "path": .string(String(request.url.dropFirst(address.base.count))),
        "headers": .object(request.headers.filter { $0.key != "Content-Type" }.mapValues { .string($0) }),
      ]
      json["body"] = body
      return .object(json)
    }
  }

  extension Answer {
    /// The answer to a part of a request.
    fileprivate init(_ json: JSONValue, to request: Request, secrets: [String]) throws {
      guard case .integer(let status)? = json["status"], 100...599 ~= status else {
        throw RemoteFailure.invalidAnswer("\(request.name): the answer has no status")
      }
      var headers = HTTPHeaders()
      if case .object(let members)? = json["headers"] {
        for (name, value) in members { if let text = value.text { headers.add(name: name, value: text) } }
      }
      let body = json["body"].flatMap { $0 == .null ? nil : $0 }
      self.init(
        request: request.name, status: Int(status), headers: headers, body: try body?.data() ?? Data(),
        secrets: secrets)
    }
  }
#endif
