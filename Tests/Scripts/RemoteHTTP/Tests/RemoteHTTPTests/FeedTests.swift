import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct FeedTests {
  @Test func aFeedTellsWhatHasChanged() async throws {
    try await withBackend { request, _ in
      switch request.query {
      case "since=a%2B1":
        .json(#"{"bugs": [{"id": 1, "user": {"id": 3}}], "removed": {"bugs": [2, 3]}, "cursor": 8, "more": true}"#)
      case "": .json(#"{"cursor": 9}"#)
      default: .empty(.gone)
      }
    } _: { backend async throws in
      let service = HTTPService(
        bugs(at: backend.url) {
          $0.feed = HTTPFeed(
            path: "/changes", moreKey: "more", records: ["Bug": "bugs"], deleted: ["Bug": "removed.bugs"])
        })
      let changes = try await service.changes(since: "a+1")
      #expect(changes.records.map(\.identifier.description) == ["User/3", "Bug/1"])
      #expect(changes.deleted.map(\.description) == ["Bug/2", "Bug/3"])
      #expect(changes.cursor == "8" && !changes.isLast && !changes.hasGap)
      let start = try await service.changes(since: "old")
      #expect(start == RemoteChanges(cursor: "9", hasGap: true))
      await service.shutdown()
    }
  }

  @Test func aBackendWithoutAFeed() async throws {
    let service = HTTPService(bugs(at: URL(string: "https://example.com")!))
    #expect(try await failure { _ = try await service.changes(since: nil) } == .unsupported)
  }
}
