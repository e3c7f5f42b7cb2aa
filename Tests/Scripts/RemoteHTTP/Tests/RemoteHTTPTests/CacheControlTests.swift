import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct CacheControlTests {
  private let all = RemoteQuery("Bug")

  @Test(
    arguments: [
      (["max-age=60"], 60), (["private, max-age=60, must-revalidate"], 60), (["Max-Age=\"60\""], 60),
      (["max-age=60", "max-age=30"], 30), (["no-cache"], 0), (["max-age=60, no-store"], 0),
      (["no-cache=\"Set-Cookie, max-age=9\", max-age=60"], 0), (["private=\"max-age=9, x\", max-age=60"], 60),
      (["max-age=0"], 0), (["max-age=99999999999999999999"], 2_147_483_648), (["s-maxage=60, immutable"], nil),
      (["max-age", "max-age=-1", "max-age=1.5", "max-age=", "max-age=x", ",, =,"], nil), (["private"], nil), ([], nil),
    ] as [([String], Int?)])
  func aListSaysHowLongItStaysFresh(values: [String], seconds: Int?) async throws {
    try await withBackend { _, _ in
      var response = Response.json("[]")
      for value in values { response.headers.append(HTTPField(name: .cacheControl, value: value)) }
      return response
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      let page = try await service.page(of: all, after: nil, ifNot: nil)
      #expect(page.freshFor == seconds.map { .seconds($0) })
      await service.shutdown()
    }
  }

  @Test(arguments: [("20", 40), ("60", 0), ("9999999999999999999", 0), ("soon", 60), ("-20", 60)])
  func theAgeOfAnAnswerCounts(age: String, seconds: Int) async throws {
    try await withBackend { _, _ in
      .json("[]", headers: ["Cache-Control": "max-age=60", "Age": age])
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(try await service.page(of: all, after: nil, ifNot: nil).freshFor == .seconds(seconds))
      await service.shutdown()
    }
  }

  @Test func anUnchangedListSaysItAgain() async throws {
    try await withBackend { _, count in
      .empty(.notModified, headers: count == 0 ? ["Cache-Control": "max-age=60", "Age": "10"] : [:])
    } _: { backend async throws in
      let service = HTTPService(bugs(at: backend.url))
      #expect(
        try await service.page(of: all, after: nil, ifNot: "\"a\"") == .unchanged(freshFor: .seconds(50)))
      #expect(try await service.page(of: all, after: nil, ifNot: "\"a\"") == .unchanged)
      await service.shutdown()
    }
  }

  @Test func theLimitsOfAnEntityAreThoseOfTheDescription() {
    let url = URL(string: "https://example.com")!
    #expect(HTTPService(bugs(at: url)).freshness(of: "Bug") == nil)
    #expect(HTTPService(bugs(at: url) { $0["Bug"].freshness = .cached }).freshness(of: "Bug") == .cached)
  }
}
