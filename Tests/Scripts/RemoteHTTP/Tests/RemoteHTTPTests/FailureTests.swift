import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct FailureTests {
  private let all = RemoteQuery("Bug")
  private let insertion = RemoteChange(.insert, entityName: "Bug", identifier: nil, key: UUID())

  @Test(.timeLimit(.minutes(1)), arguments: ["127.0.0.1", "localhost"])
  func aServerThatDoesNotListenIsUnreachable(host: String) async throws {
    // A port that is bound and does not listen.
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), inet_addr("127.0.0.1"))
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(socket, $0, length)
        _ = getsockname(socket, $0, &length)
      }
    }
    let url = URL(string: "http://\(host):\(UInt16(bigEndian: address.sin_port))")!
    // Long enough for the test to fail if the time has to pass.
    var configuration = HTTPClient.Configuration()
    configuration.timeout.connect = .hours(1)
    let service = HTTPService(bugs(at: url) { $0.timeLimit = .seconds(3600) }, configuration: configuration)
    let reading = try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
    guard case .unreachable(let reason) = reading else {
      Issue.record("\(String(describing: reading))")
      return
    }
    #expect(reason.hasPrefix("GET /bugs: no connection"))
    let sending = try await failure { _ = try await service.send([insertion]) }
    guard case .unreachable = sending else {
      Issue.record("\(String(describing: sending))")
      return
    }
    await service.shutdown()
  }

  @Test func aServerWithoutTLSIsUnreachable() async throws {
    try await withBackend { _, _ in
      .json("[]")
    } _: { backend async throws in
      let service = HTTPService(bugs(at: URL(string: "https://127.0.0.1:\(backend.url.port!)")!))
      #expect(
        try await failure { _ = try await service.send([insertion]) }
          == .unreachable("POST /bugs: the TLS handshake has failed"))
      #expect(backend.lines.isEmpty)
      await service.shutdown()
    }
  }

  @Test func aCutAnswerIsReadAgainOnce() async throws {
    try await withBackend { _, count in
      count == 0 ? .cut(#"[{"id": 1}"#) : .json(#"[{"id": 1}]"#)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(try await service.page(of: all, after: nil, ifNot: nil).records.count == 1)
      #expect(backend.lines.count == 2)
      await service.shutdown()
    }
    try await withBackend { _, _ in
      .cut(#"[{"id": 1}"#)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let found = try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
      guard case .answerLost = found else {
        Issue.record("\(String(describing: found))")
        return
      }
      #expect(backend.lines.count == 2)
      await service.shutdown()
    }
  }

  @Test func aFailureOfTheBackendIsAskedAgainOnce() async throws {
    try await withBackend { _, count in
      count == 0 ? .empty(.badGateway) : .json("[]")
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(try await service.page(of: all, after: nil, ifNot: nil) == RemotePage())
      await service.shutdown()
    }
  }

  @Test func aCutAnswerToAChangeIsLost() async throws {
    try await withBackend { _, _ in
      .cut(#"{"id": 1}"#)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let found = try await failure { _ = try await service.send([insertion]) }
      guard case .answerLost = found else {
        Issue.record("\(String(describing: found))")
        return
      }
      #expect(backend.lines == ["POST /bugs"])
      await service.shutdown()
    }
  }

  @Test func aConnectionThatIsClosedLosesTheAnswer() async throws {
    try await withClosingServer { url, count in
      let service = HTTPService(bugs(at: url))
      let found = try await failure { _ = try await service.send([insertion]) }
      guard case .answerLost(let reason) = found else {
        Issue.record("\(String(describing: found))")
        return
      }
      #expect(reason.hasPrefix("POST /bugs: "))
      #expect(count() == 1)
      await service.shutdown()
    }
  }

  @Test(arguments: [true, false]) func aSlowAnswerIsLost(headersCome: Bool) async throws {
    let gate = Gate()
    try await withBackend { _, _ in
      if !headersCome { await gate.wait() }
      return Response(
        status: .ok,
        body: ResponseBody(contentLength: 2) { writer in
          try await writer.write(ByteBuffer(string: "["))
          await gate.wait()
          try await writer.write(ByteBuffer(string: "]"))
          try await writer.finish(nil)
        })
    } _: { backend async throws in
      // Long enough for the request to arrive on a busy machine.
      let service = HTTPService(bugs(at: backend.url) { $0.timeLimit = .seconds(2) })
      let found = try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
      #expect(found == .answerLost("GET /bugs: no answer within 2.0 seconds"))
      #expect(backend.lines.count == 1)
      await gate.open()
      await service.shutdown()
    }
  }

  @Test func cancellingATaskCancelsItsRequest() async throws {
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    let gate = Gate()
    try await withBackend { _, _ in
      arrived.yield()
      await gate.wait()
      return .json("[]")
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      for kind in 0..<3 {
        let task = Task {
          switch kind {
          case 0: _ = try await service.page(of: all, after: nil, ifNot: nil)
          case 1: _ = try await service.send([insertion])
          default: _ = try await service.records([RemoteReference(bug17)])
          }
        }
        for await _ in arrivals { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      await gate.open()
      await service.shutdown()
    }
  }

  @Test func aLargeAnswerIsRefused() async throws {
    let text = "[" + String(repeating: " ", count: 5000) + "]"
    for isChunked in [false, true] {
      try await withBackend { _, _ in
        guard isChunked else { return .json(text) }
        return Response(
          status: .ok,
          body: ResponseBody { writer in
            try await writer.write(ByteBuffer(string: text))
            try await writer.finish(nil)
          })
      } _: { backend async throws in
        let service = HTTPService(bugs(at: backend.url) { $0.answerBytesMax = 5000 })
        let found = try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
        #expect(found == .invalidAnswer("GET /bugs: the answer has more than 5000 bytes"))
        await service.shutdown()
      }
    }
  }

  @Test func theStatusSaysWhy() async throws {
    try await withBackend { request, _ in
      switch request.query {
      case "case=0": .empty(.notFound)
      case "case=1": .json(#"{"detail": "what?"}"#, .badRequest)
      case "case=2": .empty(.found, headers: ["Location": "http://example.com"])
      case "case=3": .empty(.notImplemented)
      case "case=4": .empty(.serviceUnavailable, headers: ["Retry-After": "1"])
      default: .json(#"{"error": "broken"}"#, .internalServerError)
      }
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let expected: [RemoteFailure] = [
        .gone, .refused("GET /bugs: 400 Bad Request: what?"), .refused("GET /bugs: 302 Found"), .unsupported,
        .later(.seconds(1)), .answerLost("GET /bugs: 500 Internal Server Error: broken"),
      ]
      for (number, expected) in expected.enumerated() {
        let query = RemoteQuery("Bug", parameters: ["case": "\(number)"])
        #expect(try await failure { _ = try await service.page(of: query, after: nil, ifNot: nil) } == expected)
      }
      await service.shutdown()
    }
  }

  @Test func nothingIsSentAfterShuttingDown() async throws {
    try await withBackend { _, _ in
      .json("[]")
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      await service.shutdown()
      await service.shutdown()
      #expect(
        try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
          == .unreachable("GET /bugs: Already shutdown"))
      #expect(backend.lines.isEmpty)
    }
  }

  @Test func aServiceMayBeForgotten() async throws {
    try await withBackend { _, _ in
      .json("[]")
    } _: { backend async throws in
      _ = try await HTTPService(bugs(at: backend.url)).page(of: all, after: nil, ifNot: nil)
    }
  }
}
