import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Synchronization
import Testing

struct CredentialTests {
  private let all = RemoteQuery("Bug")

  @Test func credentialsAreAskedForEachRequestAndRenewedOnce() async throws {
    let asked = Mutex<[Bool]>([])
    try await withBackend { request, _ in
      request.header("Authorization") == "Bearer new" ? .json(#"{"id": 1}"#) : .empty(.unauthorized)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url)) { wereRefused in
        asked.withLock { $0.append(wereRefused) }
        return ["Authorization": wereRefused ? "Bearer new" : "Bearer old"]
      }
      let insertion = RemoteChange(
        .insert, entityName: "Bug", identifier: nil, key: UUID(), values: ["title": .string("Crash")])
      let one = RemoteRecord(RemoteIdentifier("Bug", "1"))
      #expect(try await service.send([insertion]) == [.accepted(one)])
      #expect(try await service.records([RemoteReference(one.identifier)]).found == [one])
      #expect(asked.withLock { $0 } == [false, true, false, true])
      #expect(backend.lines == ["POST /bugs", "POST /bugs", "GET /bugs/1", "GET /bugs/1"])
      #expect(backend.received[0].body == backend.received[1].body)
      await service.shutdown()
    }
  }

  @Test(arguments: [HTTPResponse.Status.unauthorized, .forbidden])
  func noErrorShowsCredentials(status: HTTPResponse.Status) async throws {
    try await withBackend { request, _ in
      .json(
        #"{"message": "\#(request.header("Authorization") ?? "") and \#(request.header("X-Key") ?? "") are wrong"}"#,
        status)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url)) { _ in
        ["Authorization": "Bearer open-sesame", "X-Key": "swordfish"]
      }
      let found = try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
      guard case .unauthorized(let reason) = found else {
        Issue.record("\(String(describing: found))")
        return
      }
      #expect(reason.hasPrefix("GET /bugs: \(status.code) ") && reason.hasSuffix(": … and … are wrong"))
      await service.shutdown()
    }
  }

  @Test func credentialsThatAreNoHeaderAreNotShown() async throws {
    try await withBackend { _, _ in
      .json("[]")
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url)) { _ in ["Authorization": "open\nsesame"] }
      #expect(
        try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
          == .unreachable("GET /bugs: Invalid header field values"))
      #expect(backend.lines.isEmpty)
      await service.shutdown()
    }
  }

  @Test func withoutCredentialsNothingIsSent() async throws {
    struct Secret: Error { let text = "open sesame" }
    try await withBackend { _, _ in
      .json("[]")
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url)) { _ in throw Secret() }
      #expect(
        try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
          == .unauthorized("there are no credentials"))
      let other = HTTPService(bugs(at: backend.url)) { _ in throw RemoteFailure.later(nil) }
      #expect(try await failure { _ = try await other.page(of: all, after: nil, ifNot: nil) } == .later(nil))
      #expect(backend.lines.isEmpty)
      await service.shutdown()
      await other.shutdown()
    }
  }
}
