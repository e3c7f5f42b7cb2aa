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

  @Test("After a gap in the changes every list counts as too old, also after a restart.", arguments: [false, true])
  func gap(reopens: Bool) async throws {
    var options = ServiceOptions()
    options.rememberedChanges = 3
    let fixture = try RemoteFixture(options)
    fixture.bugs("one")
    try await fixture.store.readChanges()
    try await fixture.refresh()
    fixture.bugs("two", "three", "four", "five")
    try await fixture.store.readChanges()
    if reopens { try fixture.reopen() }
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

  @Test(
    "A record may refer to an object that was deleted here; if the deletion is discarded, the reference comes back.")
  func deletedHere() async throws {
    let fixture = try RemoteFixture()
    let user = fixture.service.edit { $0.insert("User", ["name": .string("somebody")]) }
    let tag = fixture.service.edit { $0.insert("Tag", ["name": .string("tag")]) }
    for entity in ["User", "Tag"] { try await fixture.refresh(entity) }
    fixture.service.intercept { request, _ in
      if request.kind == .send { throw RemoteFailure.unreachable("no network") }
    }
    for entity in ["User", "Tag"] {
      try await fixture.delete(try #require(try await fixture.identifiers(entity).first))
    }
    fixture.service.edit { state in
      _ = state.insert("Bug", ["title": .string("one"), "assignee": .object(user)], tags: [tag])
    }
    try await fixture.refresh()
    #expect(try await fixture.titles() == ["one"])
    for change in try fixture.unsent { try fixture.store.discard(change) }
    for entity in ["User", "Tag", "Bug"] { try await fixture.refresh(entity) }
    fixture.forget()
    let isComplete = try await fixture.perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
      request.freshness = .cached
      let bug = try context.fetch(request).first
      let user = bug?.value(forKey: "assignee") as? NSManagedObject
      return user?.value(forKey: "name") as? String == "somebody"
        && (bug?.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 1
    }
    #expect(isComplete)
  }

  @Test("A member with a waiting change that does not concern the relationship is taken.")
  func changedMember() async throws {
    let fixture = try RemoteFixture()
    let bugs = fixture.bugs("one")
    let tag = fixture.service.edit { $0.insert("Tag", ["name": .string("tag")]) }
    for entity in ["Tag", "Bug"] { try await fixture.refresh(entity) }
    fixture.service.intercept { request, _ in
      if request.kind == .send { throw RemoteFailure.unreachable("no network") }
    }
    try await fixture.set("name", "new", of: try #require(try await fixture.identifiers("Tag").first))
    fixture.service.edit { $0.setTags([tag], of: bugs[0]) }
    try await fixture.refresh()
    fixture.forget()
    let count = try await fixture.perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
      request.freshness = .cached
      return (try context.fetch(request).first?.value(forKey: "tags") as? Set<NSManagedObject>)?.count
    }
    #expect(count == 1)
  }

  @Test("An object that was accepted without its values is asked for again, also after a restart.")
  func acceptedWithoutValues() async throws {
    var options = ServiceOptions()
    options.answers = [.identifier]
    let fixture = try RemoteFixture(options)
    fixture.service.intercept { request, _ in
      if request.kind == .records { throw RemoteFailure.unreachable("no network") }
    }
    try await fixture.insert("one")
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    try fixture.reopen()
    fixture.connect()
    let now = try #require(try await fixture.identifiers().first)
    #expect(!fixture.store.isLoaded(now))
    #expect(try await fixture.titles() == ["one"])
    try await fixture.store.load([now])
    fixture.forget()
    let serial = try await fixture.perform { context in
      try context.existingObject(with: now).value(forKey: "serial") as? Int64
    }
    #expect(serial != nil)
  }

  @Test("Whatever else a service throws counts as a lost answer.")
  func otherErrors() async throws {
    let fixture = try RemoteFixture()
    fixture.service.intercept { _, _ in throw SimulatedFailure() }
    await #expect(throws: RemoteFailure.self) { try await fixture.refresh() }
    await #expect(throws: RemoteFailure.self) { try await fixture.store.readChanges() }
  }

  @Test("Neither a part of an object nor a change makes it whole if it was accepted without its values.")
  func partOfAccepted() async throws {
    var options = ServiceOptions()
    (options.answers, options.listed) = ([.identifier], .parts)
    let fixture = try RemoteFixture(options)
    fixture.service.intercept { request, _ in
      if request.kind == .records { throw RemoteFailure.unreachable("no network") }
    }
    let id = try await fixture.insert("one")
    await fixture.send()
    try await fixture.refresh()
    #expect(!fixture.store.isLoaded(id))
    try await fixture.set("title", "two", of: id)
    await fixture.send()
    #expect(!fixture.store.isLoaded(id))
    fixture.connect()
    try await fixture.store.load([id])
    #expect(fixture.store.isLoaded(id))
  }

  @Test("Members that were read before a bug was changed do not take it from or give it to anybody.")
  func lateMembers() async throws {
    let fixture = try RemoteFixture()
    let (bug, tags) = fixture.service.edit { state in
      let tags = (0..<2).map { state.insert("Tag", ["name": .string("\($0)")]) }
      return (state.insert("Bug", ["title": .string("one")], tags: [tags[0]]), tags)
    }
    for entity in ["Tag", "Bug"] { try await fixture.refresh(entity) }
    fixture.service.intercept { request, phase in
      if phase == .answering, request.kind == .members { try await fixture.service.gate.pass(0) }
    }
    let traversal = Task {
      try await fixture.perform { context in
        for tag in try RemoteRunner.all("Tag", context) {
          _ = (tag.value(forKey: "bugs") as? Set<NSManagedObject>)?.count
        }
      }
    }
    await fixture.service.gate.untilWaiting()
    fixture.service.edit { $0.setTags([tags[1]], of: bug) }
    let other = RemoteFixture.context(fixture.coordinator)
    try await fixture.refresh()
    fixture.service.gate.open()
    try await traversal.value
    await fixture.store.waitUntilQuiet()
    let names = try await other.perform {
      let set = try RemoteRunner.all("Bug", other).first?.value(forKey: "tags") as? Set<NSManagedObject> ?? []
      return set.compactMap { $0.value(forKey: "name") as? String }
    }
    #expect(names == ["1"])
  }
}
