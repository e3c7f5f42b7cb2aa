import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct ListTests {
  private let all = RemoteQuery("Bug")

  @Test func anArrayBecomesRecords() async throws {
    try await withBackend { _, _ in
      .json(
        """
        [{"id": 17, "title": "Crash", "stats": {"votes": 9007199254740993}, "created_at": "2026-05-01T12:00:00.250Z",
          "price": 1234567890123456789.01, "open": true, "photo": "AQI=", "other": [1],
          "user": {"id": 3, "profile": {"name": "Ada"}}, "labels": ["a", {"name": "b", "color": "red"}]},
         {"id": "x/18", "title": null, "stats": null, "created_at": 1000, "user": 4, "comments": []},
         {"id": 9223372036854775807, "user": null}]
        """)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let page = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(page.next == nil && page.isLast)
      try #require(page.records.count == 3)
      let first = page.records[0]
      #expect(first.identifier == bug17)
      #expect(
        first.values == [
          "title": .string("Crash"), "votes": .integer(9_007_199_254_740_993),
          "created": .date(Date(timeIntervalSince1970: 1_777_636_800.25)),
          "price": .decimal(Decimal(string: "1234567890123456789.01")!), "isOpen": .bool(true),
          "photo": .data(Data([1, 2])), "reporter": .object(RemoteIdentifier("User", "3")),
        ])
      #expect(first.members == ["labels": .all([RemoteIdentifier("Label", "a"), RemoteIdentifier("Label", "b")])])
      #expect(
        Set(page.included) == [
          RemoteRecord(RemoteIdentifier("User", "3"), values: ["name": .string("Ada")]),
          RemoteRecord(RemoteIdentifier("Label", "b"), values: ["color": .string("red")]),
        ])
      #expect(
        page.records[1]
          == RemoteRecord(
            RemoteIdentifier("Bug", "x/18"),
            values: [
              "title": .null, "votes": .null, "created": .date(Date(timeIntervalSince1970: 1000)),
              "reporter": .object(RemoteIdentifier("User", "4")),
            ], members: ["comments": .all([])]))
      #expect(page.records[2].identifier.value == "9223372036854775807")
      #expect(page.records[2].values == ["reporter": .null])
      await service.shutdown()
    }
  }

  @Test func pagesFollowLinks() async throws {
    try await withBackend { request, _ in
      request.query.isEmpty
        ? .json(
          #"[{"id": 1}]"#,
          headers: ["Link": #"</bugs?page=1>; rel="self", </bugs?page=2,x>;rel="last next""#, "ETag": "\"a\""])
        : .json(#"[{"id": 2}]"#, headers: ["Link": #"</bugs>; rel=first"#])
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url) { $0.paging = .link })
      let first = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(!first.isLast)
      #expect(first.tag == nil, "the tag of one of several pages")
      let second = try await service.page(of: all, after: first.next, ifNot: nil)
      #expect(second.records.map(\.identifier.value) == ["2"])
      #expect(second.isLast && second.next == nil)
      #expect(backend.lines == ["GET /bugs", "GET /bugs?page=2,x"])
      await service.shutdown()
    }
  }

  @Test(arguments: ["http://example.com/bugs?page=2", "https://127.0.0.1/bugs", "//example.com/bugs"])
  func aLinkToAnotherServerIsNotFollowed(link: String) async throws {
    try await withBackend { _, _ in
      .json("[]", headers: ["Link": "<\(link)>; rel=\"next\""])
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url) { $0.paging = .link })
      #expect(
        try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) }
          == .invalidAnswer("the next page is not at the same server"))
      #expect(
        try await failure { _ = try await service.page(of: all, after: link, ifNot: nil) }
          == .invalidAnswer("the next page is not at the same server"))
      await service.shutdown()
    }
  }

  @Test func pagesFollowCursors() async throws {
    try await withBackend { request, _ in
      request.query == "after=a%20b"
        ? .json(#"{"items": [{"id": 2}], "next": {"cursor": ""}}"#)
        : .json(#"{"items": [{"id": 1}], "next": {"cursor": "a b"}}"#)
    } _: { backend async throws in
      let service = HTTPService(
        bugs(at: backend.url) {
          $0.paging = .cursor(key: "next.cursor", parameter: "after")
          $0.listKey = "items"
        })
      let first = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(first.next == "a b")
      let second = try await service.page(of: all, after: first.next, ifNot: nil)
      #expect(second.records.count == 1 && second.next == nil)
      await service.shutdown()
    }
  }

  @Test func pagesFollowURLsInTheBody() async throws {
    try await withBackend { request, _ in
      request.query == "page=2"
        ? .json(#"{"results": [], "next": null}"#)
        : .json(#"{"results": [{"id": 1}], "next": "http://\#(request.host)?page=2"}"#)
    } _: { backend async throws in
      let service = HTTPService(
        bugs(at: backend.url) {
          $0.paging = .cursor(key: "next", parameter: nil)
          $0["Bug"].listKey = "results"
        })
      let first = try await service.page(of: all, after: nil, ifNot: nil)
      let second = try await service.page(of: all, after: first.next, ifNot: nil)
      #expect(second.records.isEmpty && second.isLast)
      await service.shutdown()
    }
  }

  @Test(arguments: [true, false]) func pagesHaveNumbers(behindTheLastIsAnError: Bool) async throws {
    try await withBackend { request, _ in
      switch request.query {
      case "size=2": .json(#"[{"id": 1}, {"id": 2}]"#)
      case "size=2&page=2": .json(#"[{"id": 3}]"#)
      default: behindTheLastIsAnError ? .json("{}", .notFound) : .json("[]")
      }
    } _: { backend async throws in
      let service = HTTPService(
        bugs(at: backend.url) {
          ($0.paging, $0.pageSizeParameter, $0.pageSize) = (.numbers(parameter: "page"), "size", 2)
        })
      let query = try #require(service.query(for: RemoteFetch("Bug")))
      var (identifiers, cursor) = ([String](), String?.none)
      repeat {
        let page = try await service.page(of: query, after: cursor, ifNot: nil)
        identifiers += page.records.map(\.identifier.value)
        cursor = page.next
      } while cursor != nil
      #expect(identifiers == ["1", "2", "3"])
      #expect(backend.lines == ["GET /bugs?size=2", "GET /bugs?size=2&page=2", "GET /bugs?size=2&page=3"])
      await service.shutdown()
    }
  }

  @Test func anUnchangedListIsNotReadAgain() async throws {
    try await withBackend { request, _ in
      request.header("If-None-Match") == "\"a\""
        ? .empty(.notModified)
        : .json(#"[{"id": 1}]"#, headers: ["ETag": "\"a\""])
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url) { $0.paging = .link })
      let page = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(page.tag == "\"a\"")
      #expect(try await service.page(of: all, after: nil, ifNot: page.tag) == .unchanged)
      #expect(try await service.page(of: all, after: nil, ifNot: "\"b\"").records.count == 1)
      await service.shutdown()
    }
  }

  @Test func recordsOfAListHaveVersions() async throws {
    try await withBackend { _, _ in
      .json(#"[{"id": 1, "v": 7}, {"id": 2, "v": "W/\"x\""}, {"id": 3}]"#)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url) { $0["Bug"].versionKey = "v" })
      let page = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(page.records.map(\.tag) == ["\"7\"", "W/\"x\"", nil])
      await service.shutdown()
    }
  }

  @Test func membersHaveAPathOfTheirOwn() async throws {
    try await withBackend { _, _ in
      .json(#"[{"id": "c1", "text": "Yes"}]"#)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let page = try await service.members(of: "comments", of: RemoteIdentifier("Bug", "a/b?c"), after: nil)
      #expect(page.records == [RemoteRecord(RemoteIdentifier("Comment", "c1"), values: ["text": .string("Yes")])])
      #expect(backend.lines == ["GET /bugs/a%2Fb%3Fc/comments"])
      #expect(
        try await failure { _ = try await service.members(of: "labels", of: bug17, after: nil) } == .unsupported)
      await service.shutdown()
    }
  }

  @Test(arguments: [
    ("{}", "there is no array of Bug"), ("[{}]", "Bug: an object has no identifier"),
    (#"[{"id": ""}]"#, "Bug: an object has no identifier"),
    (#"[{"id": 1, "title": {}}]"#, "Bug/1: title has no valid value at title"),
    (#"[{"id": 1, "created_at": "soon"}]"#, "Bug/1: created has no valid value at created_at"),
    (#"[{"id": 1, "labels": 3}]"#, "Bug/1: labels is no array"),
    (#"[{"id": 1}"#, "GET /bugs: the body, of 10 bytes, is not JSON"),
    (String(repeating: "[", count: 100_000), "GET /bugs: the body, of 100000 bytes, is not JSON"),
  ])
  func anInvalidListIsAnError(body: String, reason: String) async throws {
    try await withBackend { _, _ in
      .json(body)
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(
        try await failure { _ = try await service.page(of: all, after: nil, ifNot: nil) } == .invalidAnswer(reason))
      #expect(backend.lines.count == 1)
      await service.shutdown()
    }
  }
}
