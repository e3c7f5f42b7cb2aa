import Foundation
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct GrowthTests {
  private let all = RemoteQuery("Bug", template: .incremental)

  private func service(_ url: URL, _ growth: HTTPGrowth) -> HTTPService {
    HTTPService(
      bugs(at: url) {
        ($0["Bug"].growth, $0["Bug"].hasExhaustiveLists) = (growth, true)
        ($0.ordering, $0.paging) = (.signs(parameter: "sort"), .link)
      })
  }

  @Test func aGrowingListIsNotSorted() throws {
    let service = service(
      URL(string: "https://example.com")!, HTTPGrowth(parameter: "after", cursor: .lastObject(key: "id")))
    let predicate = RemotePredicate.comparison("isOpen", .equal, .bool(true))
    #expect(
      service.query(for: RemoteFetch("Bug", predicate: predicate, order: [RemoteOrder("title")]))
        == RemoteQuery("Bug", parameters: ["open": "true"], served: .predicate, template: .incremental))
    #expect(service.query(for: RemoteFetch("Bug")) == RemoteQuery("Bug", served: .all, template: .incremental))
    #expect(service.query(for: RemoteFetch("User"))?.template == .reload)
  }

  @Test func theLastObjectIsTheCursor() async throws {
    try await withBackend { request, _ in
      switch request.query {
      case "": .json(#"[{"id": 1}, {"id": 2}]"#)
      case "after=2": .json(#"[{"id": 3}]"#)
      default: .json("[]")
      }
    } _: { backend async throws in
      let service = service(backend.url, HTTPGrowth(parameter: "after", cursor: .lastObject(key: "id")))
      let first = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(first.records.count == 2 && first.next == "2" && !first.isLast)
      let second = try await service.page(of: all, after: first.next, ifNot: nil)
      #expect(second.next == "3" && !second.isLast)
      let third = try await service.page(of: all, after: second.next, ifNot: nil)
      #expect(third.records.isEmpty && third.next == "3" && third.isLast)
      await service.shutdown()
    }
  }

  @Test func theAnswerHasTheCursor() async throws {
    try await withBackend { request, _ in
      switch request.query {
      case "": .json(#"{"items": [{"id": 1}], "cursor": "a b", "more": true}"#)
      case "since=a%20b": .json(#"{"items": [{"id": 2}], "cursor": "c", "more": false}"#)
      default: .json(#"{"items": []}"#)
      }
    } _: { backend async throws in
      let growth = HTTPGrowth(parameter: "since", cursor: .answer(key: "cursor"), moreKey: "more")
      let service = HTTPService(
        bugs(at: backend.url) { ($0["Bug"].growth, $0["Bug"].listKey) = (growth, "items") })
      let first = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(first.next == "a b" && !first.isLast)
      let second = try await service.page(of: all, after: first.next, ifNot: nil)
      #expect(second.next == "c" && second.isLast)
      let third = try await service.page(of: all, after: second.next, ifNot: nil)
      #expect(third.next == "c" && third.isLast)
      await service.shutdown()
    }
  }

  @Test func aCursorThatIncludesTheLastObjectEndsTheList() async throws {
    try await withBackend { _, _ in
      .json(#"[{"id": 2}]"#)
    } _: { backend async throws in
      let service = service(backend.url, HTTPGrowth(parameter: "since", cursor: .lastObject(key: "id")))
      let page = try await service.page(of: all, after: "2", ifNot: nil)
      #expect(page.records.count == 1 && page.next == "2" && page.isLast)
      await service.shutdown()
    }
  }

  @Test func anEmptyListHasNoCursor() async throws {
    try await withBackend { _, _ in
      .json("[]")
    } _: { backend async throws in
      let service = service(backend.url, HTTPGrowth(parameter: "since", cursor: .lastObject(key: "id")))
      #expect(try await service.page(of: all, after: nil, ifNot: nil) == RemotePage())
      await service.shutdown()
    }
  }

  @Test func aCursorThatIsTooOldBeginsTheListAgain() async throws {
    try await withBackend { request, _ in
      request.query.isEmpty ? .json(#"[{"id": 1}]"#) : .empty(.gone)
    } _: { backend async throws in
      let service = service(backend.url, HTTPGrowth(parameter: "since", cursor: .lastObject(key: "id")))
      #expect(try await service.page(of: all, after: "9", ifNot: nil).next == "1")
      #expect(backend.lines == ["GET /bugs?since=9", "GET /bugs"])
      #expect(try await service.page(of: all, after: nil, ifNot: nil).next == "1")
      await service.shutdown()
    }
  }

  @Test(arguments: [
    (#"{"items": [{"id": 1}]}"#, "there is no cursor"),
    (#"{"items": [{"id": 1}], "cursor": "9", "more": true}"#, "a page is followed by itself"),
    (#"{"items": [], "more": true}"#, "a page is followed by itself"),
  ])
  func anInvalidPageIsAnError(body: String, reason: String) async throws {
    try await withBackend { _, _ in
      .json(body)
    } _: { backend async throws in
      let growth = HTTPGrowth(parameter: "since", cursor: .answer(key: "cursor"), moreKey: "more")
      let service = HTTPService(
        bugs(at: backend.url) { ($0["Bug"].growth, $0["Bug"].listKey) = (growth, "items") })
      #expect(
        try await failure { _ = try await service.page(of: all, after: "9", ifNot: nil) } == .invalidAnswer(reason))
      await service.shutdown()
    }
  }
}
