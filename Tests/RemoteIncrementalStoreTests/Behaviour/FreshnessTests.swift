import CoreData
import Foundation
import IncrementalStore
import RemoteIncrementalStore
import Testing

@Suite("How long lists stay fresh")
struct FreshnessTests {
  @Test("Without limits of the application, a list is as fresh as its pages say.")
  func wordOfService() async throws {
    let fixture = try RemoteFixture(limits: nil, freshFor: .zero)
    try await fixture.refresh()
    #expect(try await fixture.pagesRead() == 1)
    fixture.service.edit { $0.freshFor = .seconds(1000) }
    #expect(try await fixture.pagesRead() == 1)
    #expect(try await fixture.pagesRead() == 0)
    try fixture.pass(600)
    #expect(try await fixture.pagesRead() == 0)
    try fixture.pass(600)
    #expect(try await fixture.pagesRead() == 1)
    #expect(try await fixture.pagesRead() == 0)
  }

  @Test("A list of which nobody says how fresh it stays is read again after five minutes.")
  func nobody() async throws {
    let fixture = try RemoteFixture(limits: nil, freshFor: nil)
    try await fixture.refresh()
    try fixture.pass(200)
    #expect(try await fixture.pagesRead() == 0)
    try fixture.pass(200)
    #expect(try await fixture.pagesRead() == 1)
  }

  @Test("The limits of a fetch count, whatever the service says.")
  func fetch() async throws {
    let fixture = try RemoteFixture(limits: nil, freshFor: .seconds(1000))
    try await fixture.refresh()
    #expect(try await fixture.pagesRead(.refreshing(ifOlderThan: 0)) == 1)
    #expect(try await fixture.pagesRead(.waiting(ifOlderThan: 0, timeLimit: 1000)) == 1)
    fixture.service.edit { $0.freshFor = .zero }
    try await fixture.refresh()
    #expect(try await fixture.pagesRead(.refreshing(ifOlderThan: 1000)) == 0)
    #expect(try await fixture.pagesRead(.cached) == 0)
  }

  @Test("The limits of an entity count, whatever the service says.")
  func entity() async throws {
    let fixture = try RemoteFixture(limits: .refreshing(ifOlderThan: 500), freshFor: .zero)
    try await fixture.refresh()
    #expect(try await fixture.pagesRead() == 0)
    fixture.service.edit { $0.freshFor = .seconds(1000) }
    try await fixture.refresh()
    try fixture.pass(600)
    #expect(try await fixture.pagesRead() == 1)
  }

  @Test("Of several pages the shortest time counts.", arguments: [[1000, 0], [0, 1000], [nil, 0]])
  func pages(seconds: [Int?]) async throws {
    let fixture = try RemoteFixture(limits: nil, freshFor: nil)
    fixture.bugs("one", "two", "three", "four")
    let service = fixture.service
    service.intercept { request, _ in
      guard case .page(_, let cursor, _) = request.what else { return }
      service.edit { $0.freshFor = seconds[cursor == nil ? 0 : 1].map { .seconds($0) } }
    }
    try await fixture.refresh()
    service.intercept(nil)
    #expect(try await fixture.pagesRead() > 0)
  }

  @Test("An answer that a list is unchanged renews its time, and keeps it if it says nothing.")
  func unchanged() async throws {
    let fixture = try RemoteFixture(limits: nil, freshFor: .seconds(1000))
    fixture.bugs("one")
    try await fixture.refresh()
    fixture.service.edit { $0.freshFor = nil }
    try fixture.pass(2000)
    #expect(try await fixture.pagesRead() == 1)
    try fixture.pass(600)
    #expect(try await fixture.pagesRead() == 0)
    fixture.service.edit { $0.freshFor = .seconds(-1) }
    try await fixture.refresh()
    #expect(try await fixture.pagesRead() == 1)
  }

  @Test("A list that has changed, and says nothing any more, is not as fresh as the one before.")
  func changed() async throws {
    let fixture = try RemoteFixture(limits: nil, freshFor: .seconds(1000))
    try await fixture.refresh()
    fixture.service.edit { $0.freshFor = nil }
    fixture.bugs("one")
    try await fixture.refresh()
    try fixture.pass(600)
    #expect(try await fixture.pagesRead() == 1)
  }

  @Test("After a gap in the changes of the service a list is not fresh any more, for however long it was to be.")
  func gap() async throws {
    for limit in [0, 1] {
      var options = ServiceOptions()
      (options.freshness, options.pageSize, options.rememberedChanges) = (nil, 1, 1)
      let fixture = try RemoteFixture(options)
      fixture.service.edit { $0.freshFor = .seconds(1 << 40) }
      fixture.bugs("one", "two", "three")
      #expect(try await fixture.pagesRead(limit: limit) > 0)
      #expect(try await fixture.pagesRead(limit: limit) == 0)
      try await fixture.store.readChanges()
      fixture.bugs("four", "five")
      try await fixture.store.readChanges()
      try fixture.reopen()
      #expect(try await fixture.pagesRead(limit: limit) > 0)
    }
  }

  @Test("A list that goes on behind its last page is as fresh as the last reading says.")
  func incremental() async throws {
    var options = ServiceOptions()
    (options.freshness, options.hasIncrementalTags) = (nil, true)
    let fixture = try RemoteFixture(options)
    fixture.service.edit { state in
      state.freshFor = .zero
      state.insert("Tag", ["name": .string("one")])
    }
    try await fixture.refresh("Tag")
    #expect(try await fixture.pagesRead(of: "Tag") == 1)
    fixture.service.edit { $0.freshFor = .seconds(1000) }
    #expect(try await fixture.pagesRead(of: "Tag") == 1)
    #expect(try await fixture.pagesRead(of: "Tag") == 0)
  }
}

extension RemoteFixture {
  /// - Parameters:
  ///   - limits: What the service says of all entities.
  ///   - time: What pages say.
  fileprivate convenience init(limits: RemoteFreshness?, freshFor time: Duration?) throws {
    var options = ServiceOptions()
    options.freshness = limits
    try self.init(options)
    service.edit { $0.freshFor = time }
  }

  /// Fetches, and returns how many pages the service was asked for.
  fileprivate func pagesRead(
    _ freshness: RemoteFreshness? = nil, of entity: String = "Bug", limit: Int = 0
  ) async throws -> Int {
    let before = service.requests(.page).count
    try await perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      (request.freshness, request.fetchLimit) = (freshness, limit)
      _ = try context.fetch(request)
    }
    await store.waitUntilQuiet()
    return service.requests(.page).count - before
  }

  /// Opens the store again as if so many seconds had passed.
  fileprivate func pass(_ seconds: Double) throws {
    try coordinator.performAndWait {
      try store.edit(author: "test", recordsHistory: false) { snapshot in
        var edits = RowEdits()
        try snapshot.forEachRow(in: ResultRow.table, from: nil) { row in
          guard case .string(let text) = row.reference, !text.contains("/") else { return true }
          var list = try ResultRow(row.bytes)
          list.readAt -= seconds
          edits.additions.put(list.bytes, at: row.reference, in: ResultRow.table)
          return true
        }
        return edits
      }
    }
    try reopen()
  }
}
