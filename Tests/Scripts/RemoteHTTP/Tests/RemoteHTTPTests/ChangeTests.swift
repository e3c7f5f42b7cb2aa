import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct ChangeTests {
  private let key = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")!

  private func update(_ values: [String: RemoteValue] = ["title": .string("Slow")], tag: String? = "\"a\"")
    -> RemoteChange
  {
    RemoteChange(.update, entityName: "Bug", identifier: bug17, key: key, tag: tag, values: values)
  }

  /// The outcome of a change, and the only request.
  private func outcome(
    of change: RemoteChange, _ response: Response, _ edit: (inout HTTPDescription) -> Void = { _ in }
  ) async throws -> (outcome: RemoteOutcome, request: Received) {
    var result: (RemoteOutcome, Received)?
    try await withBackend({ _, _ in response }) { backend in
      let service = HTTPService(bugs(at: backend.url, edit))
      let outcomes = try await service.send([change])
      try #require(outcomes.count == 1 && backend.received.count == 1)
      result = (outcomes[0], backend.received[0])
      await service.shutdown()
    }
    return try #require(result)
  }

  @Test func aNewObjectIsPosted() async throws {
    var change = RemoteChange(
      .insert, entityName: "Bug", identifier: nil, key: key,
      values: [
        "title": .string("Crash"), "votes": .integer(.max), "created": .date(Date()), "isOpen": .null,
        "price": .decimal(Decimal(string: "0.10")!), "reporter": .object(RemoteIdentifier("User", "3")),
        "photo": .data(Data([1, 2])), "unknown": .bool(true),
      ])
    change.added = ["labels": [RemoteIdentifier("Label", "a")], "comments": []]
    let result = try await outcome(
      of: change, .json(#"{"id": 20, "title": "Crash!"}"#, .created, headers: ["ETag": "\"x\""]))
    #expect(
      result.outcome
        == .accepted(
          RemoteRecord(RemoteIdentifier("Bug", "20"), tag: "\"x\"", values: ["title": .string("Crash!")])))
    #expect(result.request.method == "POST" && result.request.path == "/bugs")
    #expect(result.request.header("Idempotency-Key") == "6f9619ff-8b86-d011-b42d-00cf4fc964ff")
    #expect(result.request.header("Content-Type") == "application/json")
    #expect(
      result.request.body
        == #"{"labels":["a"],"open":null,"photo":"AQI=","price":0.1,"stats":{"votes":9223372036854775807},"title":"Crash","user_id":3}"#
    )
  }

  @Test func theLocationIdentifiesANewObject() async throws {
    let change = RemoteChange(.insert, entityName: "Bug", identifier: nil, key: key)
    let result = try await outcome(of: change, .empty(.created, headers: ["Location": "/bugs/21"]))
    #expect(result.outcome == .accepted(RemoteRecord(RemoteIdentifier("Bug", "21"))))
    #expect(
      try await failure { _ = try await outcome(of: change, .empty(.created)) }
        == .invalidAnswer("POST /bugs: the answer does not identify the new object"))
  }

  @Test func anIdentifierThatTheClientChooses() async throws {
    let service = HTTPService(bugs(at: URL(string: "https://example.com")!) { $0.repeating = .clientIdentifiers })
    #expect(service.repeating == .clientIdentifiers)
    let chosen = try #require(service.identifier(forNew: "Comment", values: [:]))
    #expect(UUID(uuidString: chosen) != nil && chosen == chosen.lowercased())
    let change = RemoteChange(
      .insert, entityName: "Bug", identifier: RemoteIdentifier("Bug", chosen), key: key,
      values: ["title": .string("Crash")])
    let result = try await outcome(of: change, .empty(.noContent)) { $0.repeating = .clientIdentifiers }
    #expect(result.outcome == .accepted(RemoteRecord(RemoteIdentifier("Bug", chosen))))
    #expect(result.request.method == "PUT" && result.request.path == "/bugs/\(chosen)")
    #expect(result.request.body == #"{"id":"\#(chosen)","title":"Crash"}"#)
    #expect(HTTPService(bugs(at: service.base)).identifier(forNew: "Bug", values: [:]) == nil)
  }

  @Test(arguments: [HTTPDescription.UpdateMethod.patch, .put])
  func anUpdateHasWhatHasChanged(method: HTTPDescription.UpdateMethod) async throws {
    var change = update(["title": .string("Slow"), "reporter": .null])
    (change.added, change.removed) = (
      ["labels": [RemoteIdentifier("Label", "a")]], ["labels": [RemoteIdentifier("Label", "b")]]
    )
    let result = try await outcome(of: change, .empty(.noContent)) { $0.updateMethod = method }
    #expect(result.outcome == .accepted(nil))
    #expect(try await outcome(of: change, .json(#"{"success": true}"#)).outcome == .accepted(nil))
    #expect(result.request.method == method.rawValue && result.request.path == "/bugs/17")
    #expect(result.request.header("If-Match") == "\"a\"")
    #expect(result.request.body == #"{"add_labels":["a"],"remove_labels":["b"],"title":"Slow","user_id":null}"#)
  }

  @Test func datesAreSentAsDescribed() async throws {
    func body(_ time: Double, _ dates: HTTPDescription.Dates) async throws -> String {
      try await outcome(of: update(["created": .date(Date(timeIntervalSince1970: time))]), .empty(.noContent)) {
        $0["Bug"].attributes["created"]?.isReadOnly = false
        $0.dates = dates
      }.request.body
    }
    #expect(try await body(1000, .iso8601) == #"{"created_at":"1970-01-01T00:16:40Z"}"#)
    #expect(try await body(1000.25, .iso8601) == #"{"created_at":"1970-01-01T00:16:40.250Z"}"#)
    #expect(try await body(1_777_636_800.999, .iso8601) == #"{"created_at":"2026-05-01T12:00:00.999Z"}"#)
    #expect(try await body(1000.9996, .iso8601) == #"{"created_at":"1970-01-01T00:16:41Z"}"#)
    #expect(try await body(1000.25, .seconds) == #"{"created_at":1000.25}"#)
  }

  @Test func nothingToSendIsNotSent() async throws {
    try await withBackend { _, _ in
      .empty(.noContent)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(try await service.send([update(["created": .date(Date())])]) == [.accepted(nil)])
      var change = update([:])
      change.added = ["comments": [RemoteIdentifier("Comment", "c")]]
      #expect(
        try await service.send([change]) == [.refused("Bug: nothing says how members of comments are sent")])
      let label = RemoteChange(.delete, entityName: "Label", identifier: RemoteIdentifier("Label", "a"), key: key)
      #expect(try await service.send([label]) == [.refused("Label can only be read")])
      #expect(
        try await service.send([update(["votes": .double(.nan)])]) == [.refused("Bug: the values have no form in JSON")]
      )
      #expect(backend.lines.isEmpty)
      await service.shutdown()
    }
  }

  @Test(arguments: [HTTPResponse.Status.preconditionFailed, .conflict])
  func anotherVersionIsAConflict(status: HTTPResponse.Status) async throws {
    let current = Response.json(#"{"id": 17, "title": "Fast"}"#, status, headers: ["ETag": "\"b\""])
    #expect(
      try await outcome(of: update(), current).outcome
        == .conflict(RemoteRecord(bug17, tag: "\"b\"", values: ["title": .string("Fast")])))
    #expect(try await outcome(of: update(), .json(#"{"error": "no"}"#, status)).outcome == .conflict(nil))
    #expect(try await outcome(of: update(), .json(#"{"id": 18}"#, status)).outcome == .conflict(nil))
    let deletion = RemoteChange(.delete, entityName: "Bug", identifier: bug17, key: key, tag: "\"a\"")
    let result = try await outcome(of: deletion, .empty(status))
    #expect(result.outcome == .conflict(nil) && result.request.header("If-Match") == "\"a\"")
    let insertion = RemoteChange(.insert, entityName: "Bug", identifier: nil, key: key)
    guard case .refused = try await outcome(of: insertion, .empty(status)).outcome else {
      Issue.record("not refused")
      return
    }
  }

  @Test func aDeletionHasNoBody() async throws {
    let deletion = RemoteChange(.delete, entityName: "Bug", identifier: bug17, key: key)
    let result = try await outcome(of: deletion, .json(#"{"deleted": true}"#))
    #expect(result.outcome == .accepted(nil))
    #expect(result.request.method == "DELETE" && result.request.body.isEmpty)
    #expect(result.request.header("If-Match") == nil)
  }

  @Test(arguments: [HTTPResponse.Status.notFound, .gone]) func anObjectIsGone(status: HTTPResponse.Status) async throws
  {
    #expect(try await outcome(of: update(), .json("{}", status)).outcome == .gone)
    let insertion = RemoteChange(.insert, entityName: "Bug", identifier: nil, key: key)
    guard case .refused = try await outcome(of: insertion, .empty(status)).outcome else {
      Issue.record("not refused")
      return
    }
  }

  @Test func aBackendThatIsBusyIsAskedLater() async throws {
    for status in [HTTPResponse.Status.tooManyRequests, .serviceUnavailable, .forbidden] {
      #expect(
        try await outcome(of: update(), .empty(status, headers: ["Retry-After": "120"])).outcome
          == .later(.seconds(120)))
    }
    #expect(try await outcome(of: update(), .empty(.tooManyRequests)).outcome == .later(nil))
    #expect(
      try await outcome(of: update(), .empty(.tooManyRequests, headers: ["Retry-After": "-5"])).outcome == .later(.zero)
    )
    #expect(
      try await outcome(of: update(), .empty(.tooManyRequests, headers: ["Retry-After": "soon"])).outcome == .later(nil)
    )
    for text in ["Sun, 06 Nov 9223372036854775807 08:49:37 GMT", "Sun, 06 Non 1994 08:49:37 GMT"] {
      #expect(
        try await outcome(of: update(), .empty(.tooManyRequests, headers: ["Retry-After": text])).outcome == .later(nil)
      )
    }
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(
      try await outcome(of: update(), .empty(.tooManyRequests, headers: ["Retry-After": date])).outcome == .later(.zero)
    )
  }

  @Test func theClockOfTheBackendCounts() async throws {
    let answer = """
      HTTP/1.1 503 Service Unavailable\r
      Date: Sun, 06 Nov 1994 08:49:37 GMT\r
      Retry-After: Sun, 06 Nov 1994 08:51:07 GMT\r
      Content-Length: 0\r
      \r

      """
    try await withClosingServer(answer: answer) { url, _ async throws in
      let service = HTTPService(bugs(at: url))
      #expect(try await service.send([update()]) == [.later(.seconds(90))])
      await service.shutdown()
    }
  }

  @Test func theReasonOfARefusalIsShort() async throws {
    let body = #"{"message": "the title is too long\#(String(repeating: "!", count: 1000))"}"#
    guard case .refused(let reason) = try await outcome(of: update(), .json(body, .unprocessableContent)).outcome else {
      Issue.record("not refused")
      return
    }
    #expect(reason.hasPrefix("PATCH /bugs/17: 422 Unprocessable") && reason.contains(": the title is too long!!!"))
    #expect(reason.count == 300)
    #expect(
      try await outcome(of: update(), .empty(.movedPermanently, headers: ["Location": "/other"])).outcome
        == .refused("PATCH /bugs/17: 301 Moved Permanently"))
  }

  @Test func aFailureOfTheBackendIsNotRepeated() async throws {
    try await withBackend { _, _ in
      .json(#"{"error": {"message": "oh"}}"#, .internalServerError)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(
        try await failure { _ = try await service.send([update()]) }
          == .answerLost("PATCH /bugs/17: 500 Internal Server Error: oh"))
      #expect(backend.lines.count == 1)
      await service.shutdown()
    }
  }

  @Test func anAnswerThatIsNotJSON() async throws {
    for response in [Response.json("<html>"), .json(#"{"id": null}"#), .json(#"{"id": 18}"#)] {
      guard case .invalidAnswer = try await failure(of: { _ = try await outcome(of: update(), response) }) else {
        Issue.record("not invalid")
        continue
      }
    }
  }
}

extension HTTPService {
  fileprivate var base: URL { URL(string: "https://example.com")! }
}
