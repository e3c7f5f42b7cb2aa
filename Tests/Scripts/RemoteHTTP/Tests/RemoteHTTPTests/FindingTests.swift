import Foundation
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct FindingTests {
  private let key = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")!
  private let text = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
  private var insertion: RemoteChange {
    RemoteChange(.insert, entityName: "Bug", identifier: nil, key: key, values: ["title": .string("Crash")])
  }

  private func service(_ url: URL) -> HTTPService {
    HTTPService(
      bugs(at: url) {
        $0.repeating = .finding
        $0["Bug"].finding = HTTPFinding(key: "client.key", parameter: "key")
      })
  }

  @Test func aNewObjectIsSentWithItsKeyAndFoundByIt() async throws {
    try await withBackend { request, _ in
      let object = #"{"id": 20, "title": "Crash", "client": {"key": "6F9619FF-8B86-D011-B42D-00CF4FC964FF"}}"#
      return request.method == "POST" ? .json(object, .created) : .json("[\(object)]")
    } _: { backend async throws in
      let service = service(backend.url)
      #expect(service.repeating == .finding)
      let record = RemoteRecord(RemoteIdentifier("Bug", "20"), values: ["title": .string("Crash")])
      #expect(try await service.send([insertion]) == [.accepted(record)])
      #expect(try await service.record(madeBy: insertion) == record)
      #expect(backend.lines == ["POST /bugs", "GET /bugs?key=\(text)"])
      #expect(backend.received[0].body == #"{"client":{"key":"\#(text)"},"title":"Crash"}"#)
      await service.shutdown()
    }
  }

  @Test func anObjectThatWasNotMadeIsNotFound() async throws {
    try await withBackend { _, _ in
      .json("[]")
    } _: { backend async throws in
      let service = service(backend.url)
      #expect(try await service.record(madeBy: insertion) == nil)
      await service.shutdown()
    }
  }

  @Test(arguments: [
    #"[{"id": 1}]"#, #"[{"id": 1, "client": {"key": "other"}}]"#,
    #"[{"id": 20, "client": {"key": "6f9619ff-8b86-d011-b42d-00cf4fc964ff"}}, {"id": 1}]"#, "{}",
  ])
  func anAnswerWithOtherObjectsIsInvalid(body: String) async throws {
    try await withBackend { _, _ in
      .json(body)
    } _: { backend async throws in
      let service = service(backend.url)
      guard case .invalidAnswer = try await failure(of: { _ = try await service.record(madeBy: insertion) }) else {
        Issue.record("not invalid")
        return
      }
      await service.shutdown()
    }
  }

  @Test func anEntityWhoseObjectsAreNotFound() async throws {
    let service = service(URL(string: "https://example.com")!)
    let change = RemoteChange(.insert, entityName: "User", identifier: nil, key: key)
    #expect(
      try await failure { _ = try await service.record(madeBy: change) }
        == .refused("User: nothing says how it is found whether the object was made"))
  }
}
