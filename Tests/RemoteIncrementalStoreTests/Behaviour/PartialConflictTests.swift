import CoreData
import Foundation
import RemoteIncrementalStore
import Testing

@Suite("Conflicts of which a service tells a part")
struct PartialConflictTests {
  /// Makes a change at the service, and another of the same object in a store, and sends the latter.
  ///
  /// - Returns: The properties of the object in the store and at the service, and how often something was sent.
  private func conflict(
    telling names: Set<String>, _ policy: RemoteConflictPolicy
  ) async throws -> (here: CrashGraph, there: CrashGraph, sent: Int) {
    let fixture = try RemoteFixture()
    let bug = try #require(fixture.bugs("one").first)
    let url = fixture.url.appendingPathExtension("part")
    defer { try? FileManager.default.removeItem(at: url) }
    let (coordinator, store) = try addRemoteStore(
      at: url, PartialConflicts(client: fixture.service.client(1), names: names), policy: policy,
      [RemoteSendsByHandOption: true])
    try await store.refresh(NSFetchRequest<NSManagedObject>(entityName: "Bug"))
    fixture.service.edit { $0.update(bug, ["title": .string("theirs"), "priority": .integer(5)]) }
    let context = RemoteFixture.context(coordinator)
    try await context.perform {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
      request.freshness = .cached
      try context.fetch(request).first?.setValue("ours", forKey: "title")
      try context.save()
    }
    await store.sendChanges()
    await store.waitUntilQuiet()
    let reader = RemoteFixture.context(coordinator)
    let here = try await reader.perform { try reader.graph() }
    #expect(try store.unsentChanges.isEmpty)
    try coordinator.remove(store)
    return (here, try fixture.service.now.graph(), fixture.service.requests(.send).count)
  }

  @Test("Properties that the answer leaves out are asked for.", arguments: [["title"], []])
  func serviceWins(_ names: Set<String>) async throws {
    let (here, there, sent) = try await conflict(telling: names, .serviceWins)
    #expect(here == there)
    #expect(here.values("title") == ["theirs"] && here.values("priority") == ["5"])
    #expect(sent == 1)
  }

  @Test("A change that wins is based on what the service has, and is sent once more.", arguments: [["title"], []])
  func applicationWins(_ names: Set<String>) async throws {
    let (here, there, sent) = try await conflict(telling: names, .applicationWins)
    #expect(here == there)
    #expect(here.values("title") == ["ours"] && here.values("priority") == ["5"])
    #expect(sent == 2)
  }
}

/// A service that tells only some properties of an object whose change is a conflict.
private struct PartialConflicts: RemoteService {
  let client: SimulatedClient
  let names: Set<String>

  var repeating: RemoteRepeating { client.repeating }

  func query(for fetch: RemoteFetch) -> RemoteQuery? { client.query(for: fetch) }

  func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
    try await client.page(of: query, after: cursor, ifNot: tag)
  }

  func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords { try await client.records(wanted) }

  func members(
    of relationship: String, of owner: RemoteIdentifier, after cursor: String?
  ) async throws -> RemotePage {
    try await client.members(of: relationship, of: owner, after: cursor)
  }

  func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
    try await client.send(changes).map { outcome in
      guard case .conflict(var record?) = outcome else { return outcome }
      record.values = record.values.filter { names.contains($0.key) }
      record.members = [:]
      return .conflict(record)
    }
  }
}
