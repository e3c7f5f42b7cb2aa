import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct BatchTests {
  private let keys = (0..<5).map { UUID(uuidString: "00000000-0000-4000-8000-00000000000\($0)")! }

  private func update(_ number: Int, _ values: [String: RemoteValue] = ["title": .string("Slow")]) -> RemoteChange {
    RemoteChange(
      .update, entityName: "Bug", identifier: RemoteIdentifier("Bug", "\(number)"), key: keys[number], tag: "\"a\"",
      values: values)
  }

  private func deletion(_ number: Int) -> RemoteChange {
    RemoteChange(
      .delete, entityName: "Bug", identifier: RemoteIdentifier("Bug", "\(number)"), key: keys[number])
  }

  private func service(_ url: URL, _ batch: HTTPBatch = HTTPBatch(path: "/batch")) -> HTTPService {
    HTTPService(bugs(at: url) { $0.batch = batch })
  }

  /// The outcomes of an update and a deletion, and the requests.
  private func outcomes(of response: Response) async throws -> [RemoteOutcome] {
    var outcomes: [RemoteOutcome] = []
    try await withBackend { _, _ in
      response
    } _: { backend async throws in
      let service = service(backend.url)
      outcomes = try await service.send([update(1), deletion(2)])
      #expect(backend.lines == ["POST /batch"])
      await service.shutdown()
    }
    return outcomes
  }

  @Test func severalChangesAreOneRequest() async throws {
    try await withBackend { _, _ in
      .json(
        #"""
        {"results": [{"status": 201, "headers": {"etag": "\"x\""}, "body": {"id": 20, "stats": {"votes": 5}}},
          {"status": 412, "body": {"id": 1, "title": "Fast"}}, {"status": 204, "body": null}]}
        """#)
    } _: { backend async throws in
      let batch = HTTPBatch(path: "/batch", size: 7, changesKey: "operations", answersKey: "results")
      let service = service(backend.url, batch)
      #expect(service.changesPerRequest == 7)
      let insertion = RemoteChange(
        .insert, entityName: "Bug", identifier: nil, key: keys[0], values: ["votes": .integer(.max)])
      let outcomes = try await service.send([
        insertion, update(1), update(3, ["created": .null]), update(4, ["votes": .double(.nan)]), deletion(2),
      ])
      #expect(
        outcomes == [
          .accepted(RemoteRecord(RemoteIdentifier("Bug", "20"), tag: "\"x\"", values: ["votes": .integer(5)])),
          .conflict(RemoteRecord(RemoteIdentifier("Bug", "1"), values: ["title": .string("Fast")])),
          .accepted(nil), .refused("Bug: the values have no form in JSON"), .accepted(nil),
        ])
      #expect(backend.lines == ["POST /batch"])
      #expect(backend.received[0].header("Content-Type") == "application/json")
      let key = "00000000-0000-4000-8000-00000000000"
      #expect(
        backend.received[0].body == #"{"operations":["#
          + #"{"body":{"stats":{"votes":9223372036854775807}},"headers":{"Idempotency-Key":"\#(key)0"},"#
          + #""method":"POST","path":"/bugs"},"#
          + #"{"body":{"title":"Slow"},"headers":{"Idempotency-Key":"\#(key)1","If-Match":"\"a\""},"#
          + #""method":"PATCH","path":"/bugs/1"},"#
          + #"{"headers":{"Idempotency-Key":"\#(key)2"},"method":"DELETE","path":"/bugs/2"}]}"#)
      await service.shutdown()
    }
  }

  @Test func oneChangeIsARequestByItself() async throws {
    try await withBackend { _, _ in
      .empty(.noContent)
    } _: { backend async throws in
      let service = service(backend.url)
      #expect(try await service.send([update(1)]) == [.accepted(nil)])
      #expect(try await service.send([update(1), update(3, ["created": .null])]) == [.accepted(nil), .accepted(nil)])
      #expect(backend.lines == ["PATCH /bugs/1", "PATCH /bugs/1"])
      await service.shutdown()
    }
  }

  @Test func oneChangeMayBeLostWhileAnotherIsMade() async throws {
    for part in [
      #"{"status": 500}"#, #"{"status": 99}"#, #"{"status": "200"}"#, #"{"status": 200, "body": {"id": 7}}"#, "3", "{}",
    ] {
      let outcomes = try await outcomes(of: .json(#"[\#(part), {"status": 404}]"#))
      try #require(outcomes.count == 2)
      guard case .lost = outcomes[0] else {
        Issue.record("\(part): \(outcomes[0])")
        continue
      }
      #expect(outcomes[1] == .gone)
    }
  }

  @Test func oneChangeMayBeRefusedWhileAnotherWaits() async throws {
    let body = #"[{"status": 403, "body": {"message": "no"}}, {"status": 429, "headers": {"Retry-After": 60}}]"#
    #expect(
      try await outcomes(of: .json(body)) == [.refused("PATCH /bugs/1: 403 Forbidden: no"), .later(.seconds(60))])
  }

  @Test func whatHoldsForTheRequestHoldsForAllChanges() async throws {
    #expect(
      try await outcomes(of: .empty(.tooManyRequests, headers: ["Retry-After": "60"]))
        == [.later(.seconds(60)), .later(.seconds(60))])
    for status in [HTTPResponse.Status.notFound, .notImplemented] {
      for outcome in try await outcomes(of: .empty(status)) {
        guard case .refused = outcome else {
          Issue.record("\(outcome)")
          continue
        }
      }
    }
    for response in [Response.empty(.badGateway), .json("[]"), .json("{}"), .cut("[")] {
      let failure = try await failure { _ = try await outcomes(of: response) }
      switch failure {
      case .answerLost, .invalidAnswer: break
      default: Issue.record("\(String(describing: failure))")
      }
    }
    guard case .unauthorized = try await failure(of: { _ = try await outcomes(of: .empty(.unauthorized)) }) else {
      Issue.record("not unauthorized")
      return
    }
  }
}
