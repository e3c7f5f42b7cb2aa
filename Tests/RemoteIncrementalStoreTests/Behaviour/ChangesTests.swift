import CoreData
import Foundation
import RemoteIncrementalStore
import Testing

@Suite("What a remote store learns of changes at the service")
struct ChangesTests {
  @Test("Reading changes brings what is new, changed and deleted, and goes on where it was, also after a restart.")
  func changes() async throws {
    let fixture = try RemoteFixture()
    let bugs = fixture.bugs("one", "two")
    try await fixture.store.readChanges()
    try await fixture.refresh()
    fixture.service.edit { state in
      state.update(bugs[0], ["title": .string("new")])
      state.delete(bugs[1])
    }
    fixture.bugs("three")
    try await fixture.store.readChanges()
    fixture.forget()
    #expect(try await fixture.titles() == ["new", "three"])
    try fixture.reopen()
    fixture.service.edit { state in state.delete(bugs[0]) }
    let before = fixture.service.requests(.changes).count
    try await fixture.store.readChanges()
    #expect(try await fixture.titles() == ["three"])
    guard case .changes(let cursor) = try #require(fixture.service.requests(.changes)[before...].first).what else {
      return
    }
    #expect(cursor != nil)
  }

  @Test("After a gap in the changes every list counts as too old.")
  func gap() async throws {
    var options = ServiceOptions()
    options.rememberedChanges = 3
    let fixture = try RemoteFixture(options)
    fixture.bugs("one")
    try await fixture.store.readChanges()
    try await fixture.refresh()
    fixture.bugs("two", "three", "four", "five")
    try await fixture.store.readChanges()
    #expect(try await fixture.titles(.waiting(ifOlderThan: 1e9, timeLimit: 1000)).count == 5)
  }

  @Test("An answer that was asked for before a change was accepted does not undo the change.")
  func lateAnswer() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    try await fixture.refresh()
    let id = try #require(try await fixture.identifiers().first)
    fixture.bugs("two")
    fixture.service.intercept { request, phase in
      if phase == .answering, request.kind == .page { try await fixture.service.gate.pass(0) }
    }
    let refresh = Task { try await fixture.refresh() }
    await fixture.service.gate.untilWaiting()
    try await fixture.set("title", "new", of: id)
    await fixture.store.sendChanges()
    #expect(try fixture.unsent.isEmpty)
    fixture.service.gate.open()
    try await refresh.value
    await fixture.store.waitUntilQuiet()
    fixture.forget()
    #expect(try await fixture.titles() == ["new", "two"])
  }

  @Test("An object that is known only as the end of a relationship is loaded when it is needed.")
  func otherEnd() async throws {
    let fixture = try RemoteFixture()
    fixture.service.edit { state in
      let user = state.insert("User", ["name": .string("somebody")])
      state.insert("Bug", ["title": .string("one"), "assignee": .object(user)])
    }
    try await fixture.refresh()
    let name = try await fixture.perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
      request.freshness = .cached
      let user = try context.fetch(request).first?.value(forKey: "assignee") as? NSManagedObject
      return user?.value(forKey: "name") as? String
    }
    #expect(name == "somebody")
  }

  @Test("Members of a relationship of which not all are known are read, page by page, when they are needed.")
  func members() async throws {
    let fixture = try RemoteFixture()
    fixture.service.edit { state in
      let user = state.insert("User", ["name": .string("somebody")])
      for number in 0..<7 { state.insert("Bug", ["title": .string("\(number)"), "assignee": .object(user)]) }
    }
    try await fixture.refresh("User")
    let titles = try await fixture.perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "User")
      request.freshness = .cached
      let bugs = try context.fetch(request).first?.value(forKey: "assigned") as? Set<NSManagedObject> ?? []
      return bugs.compactMap { $0.value(forKey: "title") as? String }.sorted()
    }
    #expect(titles == (0..<7).map(String.init))
    #expect(fixture.service.requests(.members).count == 3)
  }

  @Test("A list that has not changed is not read again, and is fresh.")
  func unchangedList() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one", "two", "three", "four")
    try await fixture.refresh()
    let pages = fixture.service.requests(.page).count
    try await fixture.refresh()
    #expect(fixture.service.requests(.page).count == pages + 1)
    #expect(try await fixture.titles() == ["four", "one", "three", "two"])
  }

  @Test(
    "A list that tells only a part of its objects has those that may have changed asked for, and fails if that fails.",
    arguments: [ServiceOptions.Listed.parts, .identifiers])
  func partsOfObjects(_ listed: ServiceOptions.Listed) async throws {
    var options = ServiceOptions()
    options.listed = listed
    let fixture = try RemoteFixture(options)
    let bugs = fixture.bugs("one", "two")
    try await fixture.refresh()
    let identifiers = try await fixture.identifiers()
    try await fixture.store.load(identifiers)
    fixture.service.edit { $0.update(bugs[0], ["priority": .integer(7)]) }
    fixture.service.intercept { request, _ in
      if request.kind == .records { throw RemoteFailure.unreachable("no network") }
    }
    await #expect(throws: (any Error).self) { try await fixture.refresh() }
    fixture.connect()
    let before = fixture.service.requests(.records).count
    try await fixture.refresh()
    let asked = fixture.service.requests(.records)[before...].flatMap(\.wanted).map(\.identifier)
    #expect(Set(asked) == (listed == .parts ? [bugs[0]] : Set(bugs)))
    fixture.forget()
    let priorities = try await fixture.perform { context in
      try identifiers.map { try context.existingObject(with: $0).value(forKey: "priority") as? Int64 }
    }
    #expect(Set(priorities) == [7, nil])
  }
}
