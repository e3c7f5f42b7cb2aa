import CoreData
import Foundation
import RemoteIncrementalStore
import Testing

@Suite("Reading through a remote store")
struct ReadingTests {
  @Test("A fetch returns what is on disk while the service does not answer.")
  func atOnce() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one", "two")
    try await fixture.refresh()
    try fixture.reopen()
    fixture.service.faults.held = 1000
    #expect(try await fixture.titles(.refreshing(ifOlderThan: 0)) == ["one", "two"])
    await fixture.service.gate.untilWaiting()
    #expect(try await fixture.titles(.refreshing(ifOlderThan: 0)) == ["one", "two"])
  }

  @Test("A fetch that finds its list too old has it read again behind it.")
  func behind() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    try await fixture.refresh()
    fixture.bugs("two")
    #expect(try await fixture.titles(.refreshing(ifOlderThan: 1000)) == ["one"])
    await fixture.store.waitUntilQuiet()
    #expect(try await fixture.titles() == ["one"])
    fixture.service.faults.held = 1000
    #expect(try await fixture.titles(.refreshing(ifOlderThan: 0)) == ["one"])
    fixture.service.heal()
    await fixture.store.waitUntilQuiet()
    #expect(try await fixture.titles() == ["one", "two"])
  }

  @Test("A fetch that waits has what the service has.")
  func waiting() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one", "two")
    #expect(try await fixture.titles(.fromService(timeLimit: 1000)) == ["one", "two"])
    fixture.bugs("three")
    #expect(try await fixture.titles(.waiting(ifOlderThan: 1000, timeLimit: 1000)) == ["one", "two"])
    #expect(try await fixture.titles(.waiting(ifOlderThan: 0, timeLimit: 1000)) == ["one", "three", "two"])
  }

  @Test("Equal refreshes at the same time are one request.")
  func equalRefreshes() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    fixture.service.faults.held = 1000
    let tasks = (0..<5).map { _ in Task { try await fixture.refresh() } }
    await fixture.service.gate.untilWaiting()
    for _ in 0..<5 { #expect(try await fixture.titles(.refreshing(ifOlderThan: 0)) == []) }
    #expect(fixture.service.gate.count == 1)
    fixture.service.gate.open()
    for task in tasks { try await task.value }
    #expect(fixture.service.requests(.page).count <= 2, "a refresh that came after the answer is a second request")
    #expect(try await fixture.titles() == ["one"])
  }

  @Test("Reading a list goes on after a restart behind the pages that were read.")
  func resuming() async throws {
    var options = ServiceOptions()
    options.pageSize = 1
    let fixture = try RemoteFixture(options)
    fixture.bugs("one", "two", "three", "four")
    fixture.service.intercept { request, phase in
      if phase == .arriving, case .page(_, after: "2", _) = request.what {
        throw RemoteFailure.unreachable("no network")
      }
    }
    await #expect(throws: (any Error).self) { try await fixture.refresh() }
    try fixture.reopen()
    fixture.connect()
    let (before, resumed) = (fixture.service.requests.count, Date())
    try await fixture.refresh()
    let cursors = fixture.service.requests[before...].map { request -> String? in
      if case .page(_, let cursor, _) = request.what { cursor } else { "no page" }
    }
    #expect(cursors == ["2", "3"])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
    let readAt = try #require(try fixture.store.status(of: request).readAt)
    #expect(readAt < resumed, "a list is as old as its first page")
    #expect(try await fixture.titles() == ["four", "one", "three", "two"])
  }

  @Test("A refresh that fails changes nothing.")
  func failing() async throws {
    let fixture = try RemoteFixture()
    let bugs = fixture.bugs("one", "two")
    try await fixture.refresh()
    fixture.service.edit { state in
      state.delete(bugs[0])
      state.update(bugs[1], ["title": .string("new")])
    }
    for fault in [\ServiceFaults.unreachable, \.answerLost, \.answerCut, \.busy] {
      fixture.service.faults = .none
      fixture.service.faults[keyPath: fault] = 1000
      await #expect(throws: (any Error).self) { try await fixture.refresh() }
      #expect(try await fixture.titles() == ["one", "two"])
    }
  }

  @Test(
    "An object that is missing from an incomplete list still exists, and one missing from a complete list does not.")
  func incompleteList() async throws {
    var options = ServiceOptions()
    options.pageSize = 1
    let fixture = try RemoteFixture(options)
    let bugs = fixture.bugs("one", "two", "three", "four")
    try await fixture.refresh()
    fixture.service.edit { $0.delete(bugs[0]) }
    fixture.service.intercept { request, phase in
      if phase == .answering, case .page(_, after: "3", _) = request.what { throw RemoteFailure.answerLost("cut") }
    }
    await #expect(throws: (any Error).self) { try await fixture.refresh() }
    #expect(try await fixture.titles() == ["four", "one", "three", "two"])
    fixture.connect()
    try await fixture.refresh()
    #expect(try await fixture.titles() == ["four", "three", "two"])
  }

  @Test("An object that was made while a list is read is not taken for one that does not exist.")
  func madeMeanwhile() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    try await fixture.refresh()
    fixture.bugs("other")
    fixture.service.intercept { request, phase in
      if phase == .answering, request.kind == .page { try await fixture.service.gate.pass(0) }
    }
    let refresh = Task { try await fixture.refresh() }
    await fixture.service.gate.untilWaiting()
    try await fixture.insert("two")
    await fixture.store.sendChanges()
    #expect(try fixture.unsent.isEmpty)
    fixture.service.gate.open()
    try await refresh.value
    #expect(try await fixture.titles() == ["one", "other", "two"])
  }

  @Test("Objects of which only identifiers are known are loaded by at most a hundred at a time.")
  func loading() async throws {
    var options = ServiceOptions()
    (options.listed, options.pageSize) = (.identifiers, 1000)
    let fixture = try RemoteFixture(options)
    fixture.service.edit { state in for number in 0..<250 { state.insert("Bug", ["title": .string("\(number)")]) } }
    try await fixture.refresh()
    let identifiers = try await fixture.identifiers()
    #expect(identifiers.count == 250)
    #expect(identifiers.allSatisfy { !fixture.store.isLoaded($0) })
    try await fixture.store.load(identifiers)
    #expect(identifiers.allSatisfy { fixture.store.isLoaded($0) })
    #expect(fixture.service.requests(.records).map(\.wanted.count).sorted() == [50, 100, 100])
  }

  @Test("Faults that fire in many contexts are loaded together.")
  func faultsTogether() async throws {
    var options = ServiceOptions()
    (options.listed, options.pageSize) = (.identifiers, 1000)
    let fixture = try RemoteFixture(options)
    fixture.service.edit { state in for number in 0..<20 { state.insert("Bug", ["title": .string("\(number)")]) } }
    try await fixture.refresh()
    let identifiers = try await fixture.identifiers()
    let titles = try await withThrowingTaskGroup(of: String?.self) { group in
      for id in identifiers {
        let context = RemoteFixture.context(fixture.coordinator)
        group.addTask {
          try await context.perform { try context.existingObject(with: id).value(forKey: "title") as? String }
        }
      }
      return try await group.reduce(into: Set<String>()) { if let title = $1 { $0.insert(title) } }
    }
    #expect(titles.count == 20)
    #expect(fixture.service.requests(.records).count < 20)
    #expect(fixture.service.requests(.records).flatMap(\.wanted).count == 20, "none is loaded twice")
  }

  @Test("On the main thread a fault that fires does not wait for the service.")
  func mainThread() async throws {
    var options = ServiceOptions()
    options.listed = .identifiers
    let fixture = try RemoteFixture(options)
    fixture.bugs("one")
    try await fixture.refresh()
    let id = try #require(try await fixture.identifiers().first)
    fixture.service.faults.held = 1000
    let title = try await onMainQueue {
      let context = NSManagedObjectContext(.mainQueue)
      context.persistentStoreCoordinator = fixture.coordinator
      return context.object(with: id).value(forKey: "title") as? String
    }
    #expect(title == nil)
    #expect(!fixture.store.isLoaded(id))
  }

  @Test("A service that never answers does not hold up the main queue.")
  func silentService() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    try await fixture.refresh()
    fixture.service.faults.held = 1000
    let count = try await onMainQueue {
      let context = NSManagedObjectContext(.mainQueue)
      context.persistentStoreCoordinator = fixture.coordinator
      let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
      request.freshness = .refreshing(ifOlderThan: 0)
      let bug = try context.fetch(request).first
      bug?.setValue("new", forKey: "title")
      NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context).setValue("two", forKey: "title")
      try context.save()
      return try context.fetch(request).count
    }
    #expect(count == 2)
  }

  @Test("Waiting for the service inside a task is an error that says what to do.")
  func waitingInTask() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    let context = fixture.context
    let error = #expect(throws: (any Error).self) {
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
        request.freshness = .fromService(timeLimit: 1000)
        _ = try context.fetch(request)
      }
    }
    #expect(error?.localizedDescription.contains("refresh(_:)") == true, "\(String(describing: error))")
  }

  @Test("A store works while all threads of the concurrency pool are blocked.")
  func blockedPool() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    let (blocked, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let count = ProcessInfo.processInfo.activeProcessorCount
    let titles = try await onThread {
      for _ in 0..<count * 4 {
        Task.detached {
          blocked.signal()
          Self.block(release)
        }
      }
      for _ in 0..<count { blocked.wait() }
      defer { for _ in 0..<count * 4 { release.signal() } }
      let context = fixture.context
      return try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
        request.freshness = .fromService(timeLimit: 20)
        return try context.fetch(request).map { $0.value(forKey: "title") as? String }
      }
    }
    #expect(titles == ["one"])
  }

  private static func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  @Test("A store that belongs to another account is not opened, and stays as it is.")
  func otherAccount() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    try await fixture.refresh()
    try fixture.reopen {
      #expect(throws: (any Error).self) {
        try addRemoteStore(at: fixture.url, fixture.service.client(), account: "somebody else")
      }
    }
    #expect(try await fixture.titles() == ["one"])
  }

  @Test("A reading that failed behind its last page is begun again, and lacks what was deleted since.")
  func failedEnd() async throws {
    let fixture = try RemoteFixture()
    let bugs = fixture.bugs("one", "two", "three", "four")
    try await fixture.refresh()
    fixture.service.edit { $0.delete(bugs[0]) }
    fixture.service.intercept { request, _ in
      if request.kind == .records { throw RemoteFailure.unreachable("no network") }
    }
    await #expect(throws: RemoteFailure.self) { try await fixture.refresh() }
    fixture.connect()
    fixture.service.edit { $0.delete(bugs[1]) }
    try await fixture.refresh()
    #expect(try await fixture.titles() == ["four", "three"])
  }

  @Test("A list of which a fetch has needed a part is read by a fetch that needs all of it, and then by no other.")
  func partOfList() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("a", "b", "c", "d", "e", "f", "g")
    func titles(limit: Int) async throws -> [String] {
      try await fixture.perform { context in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        (request.fetchLimit, request.freshness) = (limit, .waiting(ifOlderThan: 1000, timeLimit: 30))
        return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
      }
    }
    #expect(try await titles(limit: 2) == ["a", "b"])
    #expect(fixture.service.requests(.page).count == 1)
    #expect(try await titles(limit: 0) == ["a", "b", "c", "d", "e", "f", "g"])
    let count = fixture.service.requests(.page).count
    #expect(try await titles(limit: 0).count == 7)
    #expect(fixture.service.requests(.page).count == count)
  }

  @Test("A fetch with a limit needs all of a list that may have objects of other entities.", arguments: [false, true])
  func others(hasOthers: Bool) async throws {
    var options = ServiceOptions()
    (options.pageSize, options.listsHaveOthers) = (1, hasOthers)
    let fixture = try RemoteFixture(options)
    fixture.bugs("a", "b", "c")
    let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
    request.fetchLimit = 1
    try await fixture.store.refresh(request)
    #expect(fixture.service.requests(.page).count == (hasOthers ? 3 : 1))
  }

  @Test("An object that was evicted keeps its identifier and is loaded again when it is needed.")
  func eviction() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one")
    try await fixture.refresh()
    let id = try #require(try await fixture.identifiers().first)
    fixture.forget()
    try fixture.store.evict([id])
    #expect(!fixture.store.isLoaded(id))
    #expect(try await fixture.identifiers() == [id])
    #expect(try await fixture.value("title", of: id) == "one")
  }

  @Test("Objects with waiting changes, and objects that a context has, are not evicted.")
  func spared() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one", "two", "three")
    try await fixture.refresh()
    let identifiers = try await fixture.identifiers()
    fixture.disconnect()
    try await fixture.set("title", "changed", of: identifiers[0])
    fixture.forget()
    let held = fixture.context
    let object = Unchecked(try await fixture.perform { try $0.existingObject(with: identifiers[1]) })
    try fixture.store.evict(identifiers)
    #expect(identifiers.map { fixture.store.isLoaded($0) } == [true, true, false])
    withExtendedLifetime((held, object)) {}
  }

  @Test("A pinned object is not evicted until it is pinned no longer.")
  func pinned() async throws {
    let fixture = try RemoteFixture()
    fixture.bugs("one", "two")
    try await fixture.refresh()
    let identifiers = try await fixture.identifiers()
    fixture.forget()
    try fixture.store.setPinned(true, [identifiers[0]])
    #expect(try fixture.store.evict(identifiers) == [identifiers[1]])
    try fixture.store.setPinned(false, [identifiers[0]])
    #expect(try fixture.store.evict(identifiers) == [identifiers[0]])
  }
}
