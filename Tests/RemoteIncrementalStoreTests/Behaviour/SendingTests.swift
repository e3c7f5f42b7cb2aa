import CoreData
import Foundation
import RemoteIncrementalStore
import Testing

@Suite("Sending changes of a remote store")
struct SendingTests {
  @Test("A saved change reaches the service.")
  func plain() async throws {
    let fixture = try RemoteFixture()
    let id = try await fixture.insert("one")
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.service.now.identifiers(of: "Bug").count == 1)
    try await fixture.set("title", "two", of: id)
    await fixture.send()
    #expect(fixture.service.now.things.values.map { $0.values["title"] } == [.string("two")])
    try await fixture.delete(id)
    await fixture.send()
    #expect(fixture.service.now.things.isEmpty)
    #expect(fixture.sent.map(\.kind) == [.insert, .update, .delete])
  }

  @Test("Batch requests are sent as saves are, and deleting the history loses none of it.")
  func batches() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one", "two")
    try await fixture.refresh()
    fixture.disconnect()
    try await fixture.perform { context in
      _ = try context.execute(NSBatchInsertRequest(entityName: "Bug", objects: [["title": "three"]]))
      let update = NSBatchUpdateRequest(entityName: "Bug")
      (update.predicate, update.propertiesToUpdate) = (NSPredicate(format: "title == 'one'"), ["title": "ONE"])
      _ = try context.execute(update)
      let found = NSFetchRequest<any NSFetchRequestResult>(entityName: "Bug")
      found.predicate = NSPredicate(format: "title == 'two'")
      _ = try context.execute(NSBatchDeleteRequest(fetchRequest: found))
      _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
    }
    #expect(Set(try fixture.unsent.map(\.kind)) == [.insert, .update, .delete])
    fixture.connect()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(
      Set(fixture.service.now.things.values.map { $0.values["title"] }) == [.string("ONE"), .string("three")])
  }

  @Test("An object that is made and changed before it is sent is sent once, as it is.")
  func insertAndUpdate() async throws {
    let fixture = try RemoteFixture(sendsByHand: true)
    fixture.disconnect()
    let id = try await fixture.insert("one")
    try await fixture.set("title", "two", of: id)
    await fixture.send()
    fixture.connect()
    await fixture.send()
    #expect(fixture.sent.map(\.kind) == [.insert])
    #expect(fixture.sent.first?.values["title"] == .string("two"))
    #expect(fixture.service.now.things.values.map { $0.values["title"] } == [.string("two")])
  }

  @Test("Of an object that is made and deleted before it is sent, nothing is sent.")
  func insertAndDelete() async throws {
    let fixture = try RemoteFixture(sendsByHand: true)
    fixture.disconnect()
    let id = try await fixture.insert("one")
    try await fixture.delete(id)
    #expect(try fixture.unsent.isEmpty)
    fixture.connect()
    await fixture.send()
    #expect(fixture.sent.isEmpty)
  }

  @Test("A change that is waiting survives a restart.")
  func restart() async throws {
    let fixture = try RemoteFixture()
    fixture.disconnect()
    try await fixture.insert("one")
    try fixture.reopen()
    #expect(try fixture.unsent.map(\.kind) == [.insert])
    fixture.connect()
    await fixture.send()
    #expect(fixture.service.now.identifiers(of: "Bug").count == 1)
  }

  @Test("Objects that refer to each other are sent in an order in which the service can take them.")
  func dependencies() async throws {
    let fixture = try RemoteFixture()
    fixture.disconnect()
    try await fixture.perform { context in
      let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
      bug.setValue("one", forKey: "title")
      bug.setValue(NSEntityDescription.insertNewObject(forEntityName: "User", into: context), forKey: "assignee")
      bug.setValue(Set([NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)]), forKey: "tags")
      try context.save()
    }
    fixture.connect()
    await fixture.send()
    let state = fixture.service.now
    let bug = try #require(state.identifiers(of: "Bug").first)
    let user = try #require(state.identifiers(of: "User").first)
    #expect(state.things[bug]?.values["assignee"] == .object(user))
    #expect(state.things[bug]?.tags == Set(state.identifiers(of: "Tag")))
    #expect(state.violations.isEmpty)
  }

  @Test("A save that concerns an object that is not loaded does not wait for it.")
  func unloadedEnd() async throws {
    var options = ServiceOptions()
    options.listed = .identifiers
    let fixture = try RemoteFixture(options)
    fixture.service.edit { _ = $0.insert("User", ["name": .string("somebody")]) }
    try await fixture.refresh("User")
    let user = try #require(try await fixture.identifiers("User").first)
    fixture.service.faults.held = 1000
    try await fixture.perform { context in
      let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
      bug.setValue(context.object(with: user), forKey: "assignee")
      try context.save()
    }
    #expect(!fixture.store.isLoaded(user))
    #expect(fixture.service.gate.count <= 1, "only the change may be on its way")
    fixture.service.heal()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
  }

  @Test("Of changes that are sent one by one, those that were accepted are not sent again when a later one fails.")
  func oneByOne() async throws {
    var options = ServiceOptions()
    (options.repeating, options.changesPerRequest) = (.finding, 5)
    let fixture = try RemoteFixture(options)
    fixture.disconnect()
    for title in ["one", "two", "three"] { try await fixture.insert(title) }
    await fixture.store.waitUntilQuiet()
    fixture.service.intercept { request, phase in
      if phase == .arriving, request.changes.first?.values["title"] == .string("two") {
        throw RemoteFailure.unreachable("no network")
      }
    }
    await fixture.send()
    #expect(try fixture.unsent.count == 2)
    fixture.connect()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.sent.map { $0.values["title"] } == [.string("one"), .string("two"), .string("three")])
    #expect(fixture.service.requests(.find).isEmpty, "nothing has to be looked for that was certainly not sent")
  }

  @Test("After the service has refused the credentials nothing is sent until the application says so.")
  func credentials() async throws {
    let fixture = try RemoteFixture()
    fixture.service.intercept { request, phase in
      if phase == .arriving, request.kind == .send { throw RemoteFailure.unauthorized("expired") }
    }
    try await fixture.insert("one")
    await fixture.send()
    fixture.connect()
    try await fixture.insert("two")
    await fixture.send()
    #expect(fixture.sent.isEmpty)
    #expect(try fixture.unsent.map(\.state) == [.waiting, .waiting])
    try fixture.store.retry()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.sent.count == 2)
  }

  @Test("A change whose answer had not come when the store was closed is sent again with its key.")
  func closedWhileSending() async throws {
    let fixture = try RemoteFixture()
    fixture.service.intercept { request, phase in
      if phase == .answering, request.kind == .send { try await fixture.service.gate.pass(0) }
    }
    try await fixture.insert("one")
    await fixture.service.gate.untilWaiting()
    // The store sends as soon as it is open again.
    fixture.service.intercept(nil)
    try fixture.reopen()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.sent.count > 1)
    #expect(Set(fixture.sent.map(\.key)).count == 1)
    #expect(fixture.service.now.identifiers(of: "Bug").count == 1)
  }

  @Test("A change whose answer was lost is sent again with the same key, and made once.")
  func lostAnswer() async throws {
    let fixture = try RemoteFixture()
    fixture.service.faults.answerLost = 1000
    try await fixture.insert("one")
    await fixture.send()
    fixture.service.faults = .none
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.sent.count > 1)
    #expect(Set(fixture.sent.map(\.key)).count == 1)
    #expect(fixture.service.now.identifiers(of: "Bug").count == 1)
  }

  @Test("A change whose outcome is lost among those of others is sent again, or kept aside, alone.")
  func lostOutcome() async throws {
    for repeating in [RemoteRepeating.keys, .nothing] {
      var options = ServiceOptions()
      (options.repeating, options.changesPerRequest) = (repeating, 5)
      let fixture = try RemoteFixture(options, sendsByHand: true)
      fixture.service.edit { $0.lostTitle = .string("two") }
      for title in ["one", "two", "three"] { try await fixture.insert(title) }
      await fixture.send()
      #expect(fixture.sent.count == 3)
      #expect(try fixture.unsent.map(\.state) == [repeating == .keys ? .sent : .unknown])
      fixture.service.edit { $0.lostTitle = nil }
      await fixture.send()
      #expect(try fixture.unsent.map(\.state) == (repeating == .keys ? [] : [.unknown]))
      #expect(fixture.sent.count == (repeating == .keys ? 4 : 3))
      #expect(fixture.service.now.identifiers(of: "Bug").count == 3, "no change was made twice")
    }
  }

  @Test("Without anything against repetition, a change whose answer was lost is kept aside as unknown.")
  func unknown() async throws {
    var options = ServiceOptions()
    options.repeating = .nothing
    let fixture = try RemoteFixture(options)
    fixture.service.faults.answerLost = 1000
    try await fixture.insert("one")
    await fixture.send()
    fixture.service.faults = .none
    await fixture.send()
    #expect(try fixture.unsent.map(\.state) == [.unknown])
    #expect(fixture.sent.count == 1)
    try fixture.reopen()
    await fixture.send()
    #expect(fixture.sent.count == 1)
    try fixture.store.retry(try #require(try fixture.unsent.first))
    fixture.service.edit { $0.forgetUnknown() }
    await fixture.send()
    #expect(fixture.sent.count == 2)
    #expect(try fixture.unsent.isEmpty)
  }

  @Test("A refused change is listed with its reason, and sent again only if the application says so.")
  func refused() async throws {
    let fixture = try RemoteFixture()
    let id = try await fixture.insert("forbidden")
    await fixture.send()
    await fixture.send()
    #expect(try fixture.unsent.map(\.state) == [.refused("forbidden")])
    #expect(fixture.sent.count == 1)
    try await fixture.set("title", "allowed", of: id)
    await fixture.send()
    for change in try fixture.unsent { try fixture.store.retry(change) }
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.service.now.things.values.map { $0.values["title"] } == [.string("allowed")])
  }

  @Test("A refused change that is discarded leaves what the service has.")
  func discarded() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    try await fixture.refresh()
    let id = try #require(try await fixture.identifiers().first)
    try await fixture.set("title", "forbidden", of: id)
    try await fixture.insert("forbidden too")
    await fixture.send()
    for change in try fixture.unsent { try fixture.store.discard(change) }
    await fixture.send()
    fixture.forget()
    #expect(try await fixture.titles() == ["one"])
    #expect(try fixture.unsent.isEmpty)
  }

  @Test("A change that is discarded does not bring back references to objects that are gone.")
  func discardedReference() async throws {
    let fixture = try RemoteFixture()
    let (user, tag) = fixture.service.edit { state in
      let (user, tag) = (state.insert("User", [:]), state.insert("Tag", [:]))
      state.insert("Bug", ["title": .string("one"), "assignee": .object(user)], tags: [tag])
      return (user, tag)
    }
    for entity in ["User", "Tag", "Bug"] { try await fixture.refresh(entity) }
    let id = try #require(try await fixture.identifiers().first)
    try await fixture.perform { context in
      let bug = try context.existingObject(with: id)
      bug.setValue("forbidden", forKey: "title")
      bug.setValue(nil, forKey: "assignee")
      bug.setValue(Set<NSManagedObject>(), forKey: "tags")
      try context.save()
    }
    await fixture.send()
    fixture.service.edit { state in
      state.delete(user)
      state.delete(tag)
    }
    for entity in ["User", "Tag"] { try await fixture.refresh(entity) }
    try fixture.store.discard(try #require(try fixture.unsent.first))
    await fixture.store.waitUntilQuiet()
    fixture.forget()
    let hasNone = try await fixture.perform { context in
      let bug = try context.existingObject(with: id)
      return bug.value(forKey: "title") as? String == "one" && bug.value(forKey: "assignee") == nil
        && (bug.value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty == true
    }
    #expect(hasNone)
  }

  @Test("A refused change holds up only the changes that depend on it.")
  func blocking() async throws {
    var options = ServiceOptions()
    options.refusesLooseEnds = true
    let fixture = try RemoteFixture(options, sendsByHand: true)
    fixture.disconnect()
    try await fixture.perform { context in
      let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
      bug.setValue("forbidden", forKey: "title")
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      tag.setValue("tag", forKey: "name")
      try context.save()
      bug.setValue("forbidden again", forKey: "title")
      let other = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
      other.setValue("free", forKey: "title")
      other.setValue(Set([tag]), forKey: "tags")
      try context.save()
    }
    fixture.connect()
    await fixture.send()
    let state = fixture.service.now
    #expect(state.identifiers(of: "Bug").map { state.things[$0]?.values["title"] } == [.string("free")])
    #expect(state.identifiers(of: "Tag").count == 1)
    #expect(try fixture.unsent.count == 1)
  }

  @Test("A change that is sent again does not refer to an object that was deleted and inserted again meanwhile.")
  func insertedAgain() async throws {
    let fixture = try RemoteFixture(sendsByHand: true)
    let user = fixture.service.edit { $0.insert("User", ["name": .string("somebody")]) }
    try await fixture.refresh("User")
    let id = try #require(try await fixture.identifiers("User").first)
    try await fixture.perform { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
      bug.setValue("one", forKey: "title")
      bug.setValue(context.object(with: id), forKey: "assignee")
      try context.save()
    }
    fixture.service.faults.answerLost = 1000
    await fixture.send()
    fixture.service.faults = .none
    try await fixture.perform { context in
      try context.existingObject(with: id).setValue("somebody else", forKey: "name")
    }
    fixture.service.edit { $0.delete(user) }
    try await fixture.refresh("User")
    try await fixture.perform { context in try context.save() }
    #expect(Set(try fixture.unsent.map(\.objectID.entity.name)) == ["Bug", "User"])
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.service.now.violations.isEmpty)
    #expect(fixture.service.now.identifiers(of: "User") != [user])
  }

  @Test("A refresh does not overwrite an object with a waiting change.")
  func waitingChange() async throws {
    let fixture = try RemoteFixture()
    let bugs = fixture.bugs("one")
    try await fixture.refresh()
    let id = try #require(try await fixture.identifiers().first)
    fixture.service.intercept { request, _ in
      if request.kind == .send { throw RemoteFailure.unreachable("no network") }
    }
    try await fixture.set("title", "ours", of: id)
    fixture.service.edit { $0.update(bugs[0], ["title": .string("theirs"), "state": .string("closed")]) }
    try await fixture.refresh()
    fixture.forget()
    #expect(try await fixture.value("title", of: id) == "ours")
    try await fixture.store.load([id])
    fixture.forget()
    #expect(try await fixture.value("title", of: id) == "ours")
    #expect(try fixture.unsent.map(\.properties) == [["title"]])
  }

  @Test("A conflict ends as the store's option says.", arguments: ["service", "application", "property", "closure"])
  func conflicts(_ name: String) async throws {
    let policy: RemoteConflictPolicy =
      switch name {
      case "service": .serviceWins
      case "application": .applicationWins
      case "property": .byProperty
      default: .custom { $0.ours["title"] == .string("ours") ? .keepOurs(["title"]) : .takeTheirs }
      }
    let expected = [
      "service": ["theirs", "open", "4"], "application": ["ours", "closed", "4"],
      "property": ["theirs", "closed", "4"],
      "closure": ["ours", "open", "4"],
    ]
    let fixture = try RemoteFixture(policy: policy)
    let bugs = fixture.bugs("one")
    try await fixture.refresh()
    let id = try #require(try await fixture.identifiers().first)
    fixture.disconnect()
    try await fixture.perform { context in
      let bug = try context.existingObject(with: id)
      bug.setValue("ours", forKey: "title")
      bug.setValue("closed", forKey: "state")
      try context.save()
    }
    fixture.service.edit { $0.update(bugs[0], ["title": .string("theirs"), "priority": .integer(4)]) }
    fixture.connect()
    await fixture.send()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    let values = fixture.service.now.things[bugs[0]]?.values ?? [:]
    fixture.forget()
    let here = try await fixture.perform { context in
      let bug = try context.existingObject(with: id)
      return ["title", "state", "priority"].map { "\(bug.value(forKey: $0) ?? "nil")" }
    }
    #expect(here == expected[name])
    #expect(
      values.filter { ["title", "state", "priority"].contains($0.key) } == [
        "title": .string(here[0]), "state": .string(here[1]), "priority": .integer(4),
      ])
  }

  @Test("Members that were added and removed here stay so in a conflict that the service does not win.")
  func conflictOfMembers() async throws {
    let fixture = try RemoteFixture(policy: .byProperty)
    let (bug, tags) = fixture.service.edit { state in
      let tags = (0..<4).map { state.insert("Tag", ["name": .string("\($0)")]) }
      return (state.insert("Bug", ["title": .string("one")], tags: [tags[0], tags[1]]), tags)
    }
    for entity in ["Tag", "Bug"] { try await fixture.refresh(entity) }
    let id = try #require(try await fixture.identifiers().first)
    fixture.disconnect()
    try await fixture.perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      request.freshness = .cached
      let all = try context.fetch(request).filter { ["1", "2"].contains($0.value(forKey: "name") as? String) }
      for tag in all {
        let set = try context.existingObject(with: id).mutableSetValue(forKey: "tags")
        if set.contains(tag) { set.remove(tag) } else { set.add(tag) }
      }
      try context.save()
    }
    fixture.service.edit { $0.setTags([tags[1], tags[3]], of: bug) }
    fixture.connect()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.service.now.things[bug]?.tags == [tags[2], tags[3]])
    fixture.forget()
    let names = try await fixture.perform { context in
      let set = try context.existingObject(with: id).value(forKey: "tags") as? Set<NSManagedObject> ?? []
      return set.compactMap { $0.value(forKey: "name") as? String }.sorted()
    }
    #expect(names == ["2", "3"])
  }

  @Test("A member that was removed here and at the service stays removed in a conflict that the service wins.")
  func conflictOfRemovedMember() async throws {
    let fixture = try RemoteFixture()
    let (bug, tag) = fixture.service.edit { state in
      let tag = state.insert("Tag", ["name": .string("tag")])
      return (state.insert("Bug", ["title": .string("one")], tags: [tag]), tag)
    }
    for entity in ["Tag", "Bug"] { try await fixture.refresh(entity) }
    let id = try #require(try await fixture.identifiers().first)
    fixture.disconnect()
    try await fixture.perform { context in
      try context.existingObject(with: id).setValue(Set<NSManagedObject>(), forKey: "tags")
      try context.save()
    }
    fixture.service.edit { $0.setTags([], of: bug) }
    fixture.connect()
    await fixture.send()
    fixture.forget()
    let count = try await fixture.perform { context in
      (try context.existingObject(with: id).value(forKey: "tags") as? Set<NSManagedObject>)?.count
    }
    #expect(count == 0)
    #expect(fixture.service.now.things[tag] != nil)
  }

  @Test("A conflict does not bring back an object that was deleted here since.")
  func conflictOfDeleted() async throws {
    let fixture = try RemoteFixture(policy: .applicationWins)
    let bugs = fixture.bugs("one")
    try await fixture.refresh()
    let id = try #require(try await fixture.identifiers().first)
    fixture.service.intercept { request, phase in
      if phase == .arriving, request.kind == .send { try await fixture.service.gate.pass(0) }
    }
    try await fixture.set("title", "ours", of: id)
    await fixture.service.gate.untilWaiting()
    try await fixture.delete(id)
    fixture.service.edit { $0.update(bugs[0], ["title": .string("theirs")]) }
    fixture.service.gate.open()
    await fixture.send()
    #expect(try fixture.unsent.isEmpty)
    #expect(fixture.service.now.things.isEmpty)
    #expect(try await fixture.titles() == [])
  }

  @Test("A change of an object that the service has deleted ends with the object.")
  func gone() async throws {
    let fixture = try RemoteFixture()
    let bugs = fixture.bugs("one", "two")
    try await fixture.refresh()
    let id = try #require(
      try await fixture.perform { context in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
        request.predicate = NSPredicate(format: "title == 'one'")
        request.freshness = .cached
        return try context.fetch(request).first?.objectID
      })
    fixture.service.edit { $0.delete(bugs[0]) }
    try await fixture.set("title", "ours", of: id)
    await fixture.send()
    fixture.forget()
    #expect(try fixture.unsent.isEmpty)
    #expect(try await fixture.titles() == ["two"])
  }
}
