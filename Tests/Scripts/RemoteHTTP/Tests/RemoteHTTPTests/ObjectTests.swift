import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Synchronization
import Testing

struct ObjectTests {
  @Test func eachObjectHasAnAnswer() async throws {
    try await withBackend { request, _ in
      switch request.path {
      case "/bugs/1" where request.header("If-None-Match") == "\"a\"": .empty(.notModified)
      case "/bugs/2": .json(#"{"data": {"id": 2, "title": "Crash", "user": {"id": 3}}}"#, headers: ["ETag": "\"b\""])
      case "/bugs/3": .empty(.notFound)
      default: .json("{}", .gone)
      }
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url) { $0.objectKey = "data" })
      let bugs = (1...4).map { RemoteIdentifier("Bug", "\($0)") }
      let records = try await service.records(bugs.map { RemoteReference($0, tag: "\"a\"") })
      #expect(records.unchanged == [bugs[0]])
      #expect(Set(records.gone) == [bugs[2], bugs[3]])
      #expect(records.included.map(\.identifier) == [RemoteIdentifier("User", "3")])
      #expect(
        records.found == [
          RemoteRecord(
            bugs[1], tag: "\"b\"",
            values: ["title": .string("Crash"), "reporter": .object(RemoteIdentifier("User", "3"))])
        ])
      await service.shutdown()
    }
  }

  @Test func noMoreThanEightRequestsRunAtOnce() async throws {
    let running = Mutex((now: 0, most: 0))
    let (eighth, arrived) = AsyncStream.makeStream(of: Void.self)
    let gate = Gate()
    try await withBackend { request, _ in
      let count = running.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
        return $0.now
      }
      if count == 8 { arrived.yield() }
      await gate.wait()
      running.withLock { $0.now -= 1 }
      return .json(#"{"id": \#(request.path.split(separator: "/").last!)}"#)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      async let records = service.records((1...40).map { RemoteReference(RemoteIdentifier("Bug", "\($0)")) })
      for await _ in eighth { break }
      await gate.open()
      #expect(try await records.found.count == 40)
      #expect(running.withLock { $0.most } == 8)
      await service.shutdown()
    }
  }

  @Test func oneRequestAsksForMany() async throws {
    try await withBackend { request, _ in
      request.query == "ids=1%2C2%2C3"
        ? .json(#"[{"id": 1}]"#, headers: ["Link": "</bugs?more>; rel=next"])
        : request.query == "more" ? .json(#"[{"id": 3}]"#) : .json(#"{"id": "4,5"}"#)
    } _: { backend async throws in
      let service = HTTPService(
        bugs(at: backend.url) {
          $0.paging = .link
          $0["Bug"].identifiersParameter = "ids"
        })
      let wanted = ["1", "2", "3", "4,5"].map { RemoteReference(RemoteIdentifier("Bug", $0)) }
      let records = try await service.records(wanted)
      #expect(Set(records.found.map(\.identifier.value)) == ["1", "3", "4,5"])
      #expect(records.gone.map(\.value) == ["2"])
      #expect(Set(backend.lines) == ["GET /bugs?ids=1%2C2%2C3", "GET /bugs?more", "GET /bugs/4%2C5"])
      await service.shutdown()
    }
  }

  @Test func whatWasFoundBesideAFailureIsKept() async throws {
    try await withBackend { request, _ in
      switch request.path {
      case "/bugs/1": .json(#"{"id": 1}"#)
      case "/bugs/2": .empty(.tooManyRequests, headers: ["Retry-After": "7"])
      default: .empty(.badRequest)
      }
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      func references(_ identifiers: String...) -> [RemoteReference] {
        identifiers.map { RemoteReference(RemoteIdentifier("Bug", $0)) }
      }
      #expect(try await service.records(references("1", "2")).found.map(\.identifier.value) == ["1"])
      #expect(try await failure { _ = try await service.records(references("2")) } == .later(.seconds(7)))
      // What is wrong with one does not keep the others, even if it is first.
      let many = references("3", "4", "5", "6", "7", "8", "9", "10", "11", "1")
      #expect(try await service.records(many).found.map(\.identifier.value) == ["1"])
      await service.shutdown()
    }
  }

  @Test func anAccountThatIsNotAcceptedFindsNothing() async throws {
    try await withBackend { request, _ in
      request.path == "/bugs/1" ? .json(#"{"id": 1}"#) : .empty(.forbidden)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let wanted = ["1", "2"].map { RemoteReference(RemoteIdentifier("Bug", $0)) }
      #expect(
        try await failure { _ = try await service.records(wanted) } == .unauthorized("GET /bugs/2: 403 Forbidden"))
      await service.shutdown()
    }
  }

  @Test(arguments: ["", ".", ".."]) func someIdentifiersAreNoPath(identifier: String) async throws {
    try await withBackend { _, _ in
      .json("{}")
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let wanted = RemoteIdentifier("Bug", identifier)
      let found = try await failure { _ = try await service.records([RemoteReference(wanted)]) }
      #expect(found == .refused("\"\(identifier)\" is not an identifier that a path can have"))
      let deletion = RemoteChange(.delete, entityName: "Bug", identifier: wanted, key: UUID())
      #expect(
        try await service.send([deletion])
          == [.refused("\"\(identifier)\" is not an identifier that a path can have")])
      #expect(backend.lines.isEmpty)
      await service.shutdown()
    }
  }

  @Test(arguments: ["", "/v1", "/v1/"]) func pathsMayEndWithASlash(base: String) async throws {
    try await withBackend { _, _ in
      .json(#"{"id": 17}"#)
    } _: { backend async throws in
      let url = URL(string: backend.url.absoluteString + base)!
      let service = HTTPService(bugs(at: url) { $0["Bug"].path = "bugs/" })
      #expect(try await service.records([RemoteReference(bug17)]).found == [RemoteRecord(bug17)])
      #expect(backend.lines == ["GET \(base == "" ? "" : "/v1")/bugs/17/"])
      await service.shutdown()
    }
  }

  @Test func anotherObjectIsNoAnswer() async throws {
    try await withBackend { _, _ in
      .json(#"{"id": 18}"#)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(
        try await failure { _ = try await service.records([RemoteReference(bug17)]) }
          == .invalidAnswer("GET /bugs/17: the answer is another object, Bug/18"))
      await service.shutdown()
    }
  }
}

/// Lets everybody wait until it is opened.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func wait() async {
    guard !isOpen else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
