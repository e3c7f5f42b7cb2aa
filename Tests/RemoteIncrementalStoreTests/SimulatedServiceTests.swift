import CairnSimulation
import Foundation
import RemoteIncrementalStore
import Testing

@Suite("The simulated service")
struct SimulatedServiceTests {
  private func insertion(_ title: String, key: UUID = UUID()) -> RemoteChange {
    RemoteChange(
      .insert, entityName: "Bug", identifier: nil, key: key,
      values: ["title": .string(title), "token": .string(title)])
  }

  private func identifier(_ outcome: RemoteOutcome?) throws -> RemoteIdentifier {
    guard case .accepted(let record?) = outcome else {
      throw TestFailure("not accepted with a record: \(String(describing: outcome))")
    }
    return record.identifier
  }

  private func all(_ client: SimulatedClient, _ query: RemoteQuery) async throws -> [RemoteIdentifier] {
    var (found, cursor): ([RemoteIdentifier], String?) = ([], nil)
    repeat {
      let page = try await client.page(of: query, after: cursor, ifNot: nil)
      found += page.records.map(\.identifier)
      cursor = page.isLast ? nil : page.next
    } while cursor != nil
    return found
  }

  @Test("A change that is sent twice with one key is made once, and answered twice.")
  func keys() async throws {
    let service = SimulatedService()
    let change = insertion("one")
    let first = try identifier(try await service.client().send([change]).first)
    let second = try identifier(try await service.client().send([change]).first)
    #expect(first == second)
    #expect(service.now.identifiers(of: "Bug") == [first])
    #expect(service.now.applied[change.key]?.count == 1)
    #expect(service.now.violations.isEmpty)
  }

  @Test("Two different changes with one key are noted as an error of the client.")
  func reusedKey() async throws {
    let service = SimulatedService()
    let key = UUID()
    _ = try await service.client().send([insertion("one", key: key)])
    _ = try await service.client().send([insertion("two", key: key)])
    #expect(service.now.violations.count == 1)
  }

  @Test("A lost answer leaves the change made, and the request that does not arrive leaves it unmade.")
  func lostAnswers() async throws {
    let service = SimulatedService()
    service.faults.answerLost = 1000
    await #expect(throws: RemoteFailure.self) { try await service.client().send([insertion("one")]) }
    #expect(service.now.identifiers(of: "Bug").count == 1)
    service.faults = .none
    service.faults.unreachable = 1000
    await #expect(throws: RemoteFailure.self) { try await service.client().send([insertion("two")]) }
    #expect(service.now.identifiers(of: "Bug").count == 1)
  }

  @Test("A change based on another version is a conflict with what the service has.")
  func conflicts() async throws {
    let service = SimulatedService()
    let bug = service.edit { $0.insert("Bug", ["title": .string("one"), "token": .string("one")]) }
    let tag = try #require(service.now.record(bug)?.tag)
    service.edit { $0.update(bug, ["title": .string("theirs")]) }
    let change = RemoteChange(
      .update, entityName: "Bug", identifier: bug, key: UUID(), tag: tag, values: ["title": .string("ours")])
    let outcome = try await service.client().send([change])
    #expect(outcome == [.conflict(service.now.record(bug))])
    #expect(service.now.contested == ["one"])
  }

  @Test("A list is read by pages, and objects that exist all the time are on it although others come and go.")
  func shiftingPages() async throws {
    let service = SimulatedService()
    let bugs = service.edit { state in (0..<10).map { _ in state.insert("Bug", [:]) } }
    let query = try #require(service.client().query(for: RemoteFetch("Bug")))
    service.intercept { request, phase in
      guard phase == .arriving, case .page(_, after: "6", _) = request.what else { return }
      service.edit { state in
        state.delete(bugs[0])
        state.delete(bugs[7])
        state.insert("Bug", [:])
      }
    }
    let found = try await all(service.client(), query)
    var expected = bugs
    expected.remove(at: 7)
    expected.append(RemoteIdentifier("Bug", "11"))
    #expect(found == expected)
    #expect(query.isExhaustive)
  }

  @Test("A list and objects that the client has in their present versions are unchanged.")
  func unchanged() async throws {
    let service = SimulatedService()
    let bug = service.edit { $0.insert("Bug", [:]) }
    let query = try #require(service.client().query(for: RemoteFetch("Bug")))
    let page = try await service.client().page(of: query, after: nil, ifNot: nil)
    let again = try await service.client().page(of: query, after: nil, ifNot: page.tag)
    let records = try await service.client().records([RemoteReference(bug, tag: page.records.first?.tag)])
    #expect(again.isUnchanged)
    #expect(records.unchanged == [bug])
    service.edit { $0.update(bug, ["title": .string("new")]) }
    let changed = try await service.client().page(of: query, after: nil, ifNot: page.tag)
    #expect(!changed.isUnchanged)
  }

  @Test("The changes since a cursor have records and tombstones, and a cursor that is too old is a gap.")
  func changes() async throws {
    var options = ServiceOptions()
    options.rememberedChanges = 5
    let service = SimulatedService(options)
    let (one, two) = service.edit { ($0.insert("Bug", [:]), $0.insert("Bug", [:])) }
    let start = try await service.client().changes(since: nil)
    #expect(start.records.isEmpty)
    service.edit { state in
      state.update(one, ["title": .string("new")])
      state.delete(two)
    }
    let changes = try await service.client().changes(since: start.cursor)
    #expect(changes.records == [service.now.record(one)])
    #expect(changes.deleted == [two])
    #expect(changes.isLast)
    service.edit { state in for _ in 0..<6 { state.insert("Bug", [:]) } }
    let gap = try await service.client().changes(since: changes.cursor)
    #expect(gap.hasGap)
  }

  @Test("Held requests wait until they are released or the gate is opened, and a killed client's never return.")
  func gate() async throws {
    let service = SimulatedService()
    service.faults.held = 1000
    let query = try #require(service.client().query(for: RemoteFetch("Bug")))
    let one = Task { try await service.client(1).page(of: query, after: nil, ifNot: nil) }
    let two = Task { try await service.client(2).page(of: query, after: nil, ifNot: nil) }
    await service.gate.untilWaiting(2)
    service.kill(2)
    await #expect(throws: CancellationError.self) { try await two.value }
    service.gate.open()
    _ = try await one.value
    await #expect(throws: RemoteFailure.self) {
      try await service.client(2).page(of: query, after: nil, ifNot: nil)
    }
  }

  @Test("The same seed makes the same requests fail.")
  func determinism() async throws {
    func failures(_ seed: UInt64) async -> [Bool] {
      let service = SimulatedService(seed: seed)
      service.faults.unreachable = 500
      var failures: [Bool] = []
      for number in 0..<50 {
        do {
          _ = try await service.client().records([RemoteReference(RemoteIdentifier("Bug", "\(number % 7)"))])
          failures.append(false)
        } catch { failures.append(true) }
      }
      return failures
    }
    let (one, again, other) = (await failures(1), await failures(1), await failures(2))
    #expect(one == again)
    #expect(one != other)
    #expect(one.contains(true) && one.contains(false))
  }
}

/// What went wrong in a test.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
