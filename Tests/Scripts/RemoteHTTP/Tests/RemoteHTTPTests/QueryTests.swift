import Foundation
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct QueryTests {
  private func query(_ fetch: RemoteFetch, _ change: (inout HTTPDescription) -> Void = { _ in }) throws -> RemoteQuery {
    let service = HTTPService(bugs(at: URL(string: "https://example.com")!, change))
    return try #require(service.query(for: fetch))
  }

  private let isOpen = RemotePredicate.comparison("isOpen", .equal, .bool(true))
  private let isByAda = RemotePredicate.comparison("reporter", .equal, .object(RemoteIdentifier("User", "3")))
  private let isCrash = RemotePredicate.comparison("title", .contains, .string("Crash"))

  @Test func equalityBecomesParameters() throws {
    let query = try query(RemoteFetch("Bug", predicate: .and([isOpen, isByAda]))) {
      $0["Bug"].hasExhaustiveLists = true
    }
    #expect(query.parameters == ["open": "true", "user": "3"])
    #expect(query.served == .all && query.isExhaustive)
  }

  @Test func whatCannotBeSaidIsLeftToTheStore() throws {
    let query = try query(RemoteFetch("Bug", predicate: .and([isOpen, isCrash]))) {
      $0["Bug"].hasExhaustiveLists = true
    }
    #expect(query.parameters == ["open": "true"])
    #expect(query.served == .order && !query.isExhaustive)
  }

  @Test func aListWithoutFiltersHasAllObjects() throws {
    let query = try query(RemoteFetch("Bug", predicate: .or([isOpen, isByAda]))) { $0["Bug"].hasExhaustiveLists = true }
    #expect(query.parameters.isEmpty)
    #expect(query.served == .order && query.isExhaustive)
  }

  @Test func twoValuesForAParameterAreTooMany() throws {
    let query = try query(
      RemoteFetch("Bug", predicate: .and([isOpen, .comparison("isOpen", .equal, .bool(false))])))
    #expect(query.parameters == ["open": "true"])
    #expect(query.served == .order)
  }

  @Test func noValueIsNoParameter() throws {
    let query = try query(RemoteFetch("Bug", predicate: .comparison("reporter", .equal, .null)))
    #expect(query.parameters.isEmpty && query.served == .order)
  }

  @Test func theOrderBecomesAParameter() throws {
    let fetch = RemoteFetch("Bug", order: [RemoteOrder("created", isAscending: false), RemoteOrder("title")])
    let signs = try query(fetch) { $0.ordering = .signs(parameter: "sort") }
    #expect(signs.parameters == ["sort": "-created_at,title"] && signs.served == .all)
    let direction = HTTPOrdering.direction(parameter: "sort", directionParameter: "direction")
    #expect(try query(fetch) { $0.ordering = direction }.served == .predicate)
    let one = try query(RemoteFetch("Bug", order: [fetch.order[0]])) { $0.ordering = direction }
    #expect(one.parameters == ["sort": "created_at", "direction": "desc"] && one.served == .all)
    #expect(try query(fetch).served == .predicate)
    #expect(try query(RemoteFetch("Bug", order: [RemoteOrder("votes")])) { $0.ordering = direction }.parameters.isEmpty)
  }

  @Test func theLimitBecomesThePageSize() throws {
    func size(_ fetch: RemoteFetch) throws -> String? {
      try query(fetch) { $0.pageSizeParameter = "per_page" }.parameters["per_page"]
    }
    #expect(try size(RemoteFetch("Bug", limit: 20)) == "20")
    #expect(try size(RemoteFetch("Bug", limit: 500)) == "100")
    #expect(try size(RemoteFetch("Bug")) == "100")
    #expect(try size(RemoteFetch("Bug", predicate: isCrash, limit: 20)) == "100")
  }

  @Test func anEntityWithoutAPathIsNotAsked() {
    let service = HTTPService(bugs(at: URL(string: "https://example.com")!))
    #expect(service.query(for: RemoteFetch("Label")) == nil)
    #expect(service.query(for: RemoteFetch("Other")) == nil)
  }
}
