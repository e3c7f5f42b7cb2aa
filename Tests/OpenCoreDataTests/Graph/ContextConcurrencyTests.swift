import OpenCoreData
import Synchronization
import Testing

/// Contexts on many threads over one coordinator. Every loop ends because of an event, none because of elapsed time.
@Suite(.timeLimit(.minutes(30))) struct ContextConcurrencyTests {
  private static let threads = 4
  private static let transfers = 60

  // MARK: Transfers

  @Test("Transfers that are retried after a conflict keep the sum of all money.", arguments: Bank.Kind.allCases)
  func retriedTransfers(_ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 5, kind)
    let conflicts = Atomic(0)
    let seed = chooseSeed()
    try await onThreads(Self.threads) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      let context = bank.context("teller \(thread)")
      for _ in 0..<Self.transfers {
        let pair = bank.accounts.shuffled(using: &random).prefix(2)
        let amount = Int64.random(in: 1...9, using: &random)
        while try !context.performAndWait({ try transfer(amount, pair, context) }) {
          conflicts.add(1, ordering: .relaxed)
        }
      }
    }
    try check(bank)
    print("conflicts: \(conflicts.load(ordering: .relaxed))")
  }

  /// Returns whether the transfer was saved; if not, the context has the values that others saved.
  private func transfer(
    _ amount: Int64, _ pair: ArraySlice<NSManagedObjectID>, _ context: NSManagedObjectContext
  ) throws -> Bool {
    move(amount, pair.map(context.object))
    do {
      try context.save()
      return true
    } catch let error as NSError where error.code == 133020 {
      context.rollback()
      context.refreshAllObjects()
      return false
    }
  }

  @Test("Objects that are fetched with their values have values of one moment.", arguments: Bank.Kind.allCases)
  func momentOfAFetch(_ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 8, kind)
    let seed = chooseSeed()
    let isDone = Atomic(false)
    try await onThreads(2) { thread in
      guard thread == 0 else {
        while !isDone.load(ordering: .relaxed) { #expect(try bank.audit().balance == 8 * Bank.opening) }
        return
      }
      defer { isDone.store(true, ordering: .relaxed) }
      var random = SeededGenerator(seed: seed)
      let context = bank.context("teller")
      for _ in 0..<1000 {
        let pair = bank.accounts.shuffled(using: &random).prefix(2)
        _ = try context.performAndWait { try transfer(1, pair, context) }
      }
    }
  }

  private func move(_ amount: Int64, _ pair: [NSManagedObject]) {
    pair[0].balance -= amount
    pair[1].balance += amount
    for account in pair { account.transfers += 1 }
  }

  @Test("Transfers whose conflicts a merge policy settles keep the sum of all money.", arguments: Bank.Kind.allCases)
  func mergedTransfers(_ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 5, kind)
    let seed = chooseSeed()
    try await onThreads(Self.threads) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      let context = bank.context("teller \(thread)")
      context.performAndWait { context.mergePolicy = AddingPolicy() }
      for _ in 0..<Self.transfers {
        let pair = bank.accounts.shuffled(using: &random).prefix(2)
        let amount = Int64.random(in: 1...9, using: &random)
        try context.performAndWait {
          move(amount, pair.map(context.object))
          while true {
            do {
              return try context.save()
            } catch let error as NSError where error.code == 133020 {
              // Other threads saved first, each time that the save was attempted.
            }
          }
        }
      }
    }
    try check(bank)
  }

  private func check(_ bank: Bank) throws {
    let saved = try bank.saved()
    #expect(saved.balances.reduce(0, +) == Bank.opening * Int64(bank.accounts.count))
    #expect(saved.transfers == Int64(2 * Self.threads * Self.transfers))
  }

  @Test("Objects that all threads delete are gone, and no save fails.", arguments: Bank.Kind.allCases)
  func deletions(_ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 40, kind)
    let deleted = Locked([NSManagedObjectID]())
    try await onThreads(Self.threads) { thread in
      let context = bank.context("closer \(thread)")
      let mailbox = Mailbox(context)
      for id in bank.accounts {
        try context.performAndWait {
          guard let account = try? context.existingObject(with: id) else { return }
          context.delete(account)
          try context.save()
        }
      }
      let told = mailbox.all.flatMap { $0.userInfo?["deleted"] as? Set<NSManagedObject> ?? [] }
      deleted.withLock { $0 += told.map(\.objectID) }
    }
    #expect(deleted.withLock { Set($0) } == Set(bank.accounts))
    let context = bank.context("auditor")
    let left = try context.performAndWait {
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Account"))
    }
    #expect(left == 0)
  }

  @Test("Objects that are inserted on many threads have different identifiers.", arguments: Bank.Kind.allCases)
  func insertions(_ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 1, kind)
    let ids = Locked(Set<NSManagedObjectID>())
    try await onThreads(Self.threads) { thread in
      let context = bank.context("opener \(thread)")
      for round in 0..<20 {
        let new = try context.performAndWait {
          let objects = (0...round).map { _ in
            NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
          }
          try context.save()
          return objects.map(\.objectID)
        }
        ids.withLock { $0.formUnion(new) }
      }
    }
    #expect(ids.withLock(\.count) == Self.threads * 20 * 21 / 2)
  }

  // MARK: Queues

  @Test("Blocks of one context run one at a time, each thread's in its order.")
  func blocksTakeTurns() async throws {
    let bank = try Bank(accounts: 1)
    let context = Handed(bank.context("shared"))
    let log = Handed(Log())
    try await onThreads(Self.threads) { thread in
      for number in 0..<200 {
        if number.isMultiple(of: 7) {
          context.value.performAndWait { log.value.entries.append((thread, number)) }
        } else {
          context.value.perform { log.value.entries.append((thread, number)) }
        }
      }
      // Runs after all blocks that this thread has enqueued.
      context.value.performAndWait {}
    }
    for thread in 0..<Self.threads {
      #expect(log.value.entries.filter { $0.thread == thread }.map(\.number) == Array(0..<200))
    }
  }

  private final class Log {
    var entries: [(thread: Int, number: Int)] = []
  }

  @Test("A block that waits may enter other contexts, and those that it came from.", arguments: Bank.Kind.allCases)
  func nesting(_ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 3, kind)
    let contexts = Handed((0..<3).map { bank.context("nested \($0)") })
    try await onThreads(Self.threads) { thread in
      for _ in 0..<50 {
        try contexts.value[0].performAndWait {
          contexts.value[1].performAndWait {
            contexts.value[2].performAndWait {
              for (context, id) in zip(contexts.value, bank.accounts) {
                context.performAndWait {
                  let account = context.object(with: id)
                  account.transfers += 1
                  context.performAndWait { account.balance += 1 }
                }
              }
            }
          }
          for context in contexts.value { try context.performAndWait { try context.save() } }
        }
      }
    }
    let saved = try bank.saved()
    #expect(saved.balances.allSatisfy { $0 == Bank.opening + Int64(50 * Self.threads) })
    #expect(saved.transfers == Int64(3 * 50 * Self.threads))
  }

  @Test("Tasks get what their blocks return or throw, on whichever thread they continue.")
  func asynchronousBlocks() async throws {
    struct Refused: Error, Equatable {
      let number: Int
    }
    let bank = try Bank(accounts: 1)
    let context = Handed(bank.context("awaited"))
    let id = bank.accounts[0]
    try await withThrowingTaskGroup { group in
      for number in 0..<100 {
        group.addTask {
          let shared = context.value
          let schedule: NSManagedObjectContext.ScheduledTaskType = number.isMultiple(of: 2) ? .immediate : .enqueued
          let result = await shared.perform(schedule: schedule) {
            shared.object(with: id).balance += 1
            return number
          }
          #expect(result == number)
          await #expect(throws: Refused(number: number)) {
            try await shared.perform { throw Refused(number: number) }
          }
        }
      }
      try await group.waitForAll()
    }
    try await context.value.perform { try context.value.save() }
    #expect(try bank.saved().balances == [Bank.opening + 100])
  }

  // MARK: Merging

  @Test(
    "A context that merges automatically ends with the values that were saved last.", arguments: [true, false],
    Bank.Kind.allCases)
  func automaticMerges(isObserved: Bool, _ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 4, kind)
    let reader = Handed(bank.context("reader"))
    let objects = Handed(
      reader.value.performAndWait {
        reader.value.automaticallyMergesChangesFromParent = true
        return bank.accounts.map(reader.value.object)
      })
    let total = Bank.opening * 4 + Int64(Self.threads * Self.transfers)
    let sum: @Sendable () -> Int64 = {
      reader.value.performAndWait { objects.value.reduce(0) { $0 + $1.balance } }
    }
    #expect(sum() == Bank.opening * 4)
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: reader.value, queue: nil
    ) { _ in
      continuation.yield()
    }
    defer { NotificationCenter.default.removeObserver(observer) }

    try await onThreads(Self.threads) { thread in
      let context = bank.context("depositor \(thread)")
      context.performAndWait { context.mergePolicy = AddingPolicy() }
      for number in 0..<Self.transfers {
        try context.performAndWait {
          context.object(with: bank.accounts[(number + thread) % 4]).balance += 1
          try save(context)
        }
        if isObserved { _ = sum() }
      }
    }
    for await _ in changes where sum() == total { break }
    #expect(sum() == total)
  }

  /// Saves, and tries again as long as there are conflicts.
  private func save(_ context: NSManagedObjectContext) throws {
    while true {
      do {
        return try context.save()
      } catch let error as NSError where error.code == 133020 {}
    }
  }

  @Test("Merging saves by hand, in turns, leaves two contexts with the same values.", arguments: Bank.Kind.allCases)
  func mergesByHand(_ kind: Bank.Kind) async throws {
    let bank = try Bank(accounts: 6, kind)
    let contexts = Handed((0..<3).map { bank.context("peer \($0)") })
    let mailboxes = Handed(contexts.value.map(Mailbox.init))
    try await onThreads(3) { thread in
      let context = contexts.value[thread]
      context.performAndWait { context.mergePolicy = AddingPolicy() }
      for number in 0..<Self.transfers {
        try context.performAndWait {
          context.object(with: bank.accounts[(number + thread) % 6]).balance += 1
          try save(context)
        }
      }
    }
    for (number, context) in contexts.value.enumerated() {
      context.performAndWait {
        for (other, mailbox) in mailboxes.value.enumerated() where other != number {
          for notification in mailbox.all { context.mergeChanges(fromContextDidSave: notification) }
        }
        #expect(!context.hasChanges)
        #expect(bank.accounts.reduce(0) { $0 + context.object(with: $1).balance } == 6000 + Int64(3 * Self.transfers))
      }
    }
  }

  // MARK: The end of objects and contexts

  @Test("Objects may be freed on any thread while their context is in use.")
  func objectsFreedElsewhere() async throws {
    let bank = try Bank(accounts: 50)
    let context = Handed(bank.context("source"))
    let handed = Locked([Handed<[NSManagedObject]>]())
    let isOver = Atomic(false)
    try await onThreads(2) { thread in
      guard thread == 0 else {
        // Takes objects and releases them until there are no more.
        while true {
          let over = isOver.load(ordering: .acquiring)
          let taken = handed.withLock { handed in
            defer { handed = [] }
            return handed
          }
          if over && taken.isEmpty { return }
        }
      }
      defer { isOver.store(true, ordering: .releasing) }
      for _ in 0..<300 {
        let objects = try context.value.performAndWait {
          let objects = try context.value.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account"))
          #expect(objects.allSatisfy { $0.balance == Bank.opening })
          return Handed(objects)
        }
        handed.withLock { $0.append(objects) }
      }
    }
    context.value.performAndWait { #expect(context.value.registeredObjects.isEmpty) }
  }

  @Test("Contexts can be made and freed on many threads while others save.")
  func contextsComeAndGo() async throws {
    let bank = try Bank(accounts: 3)
    try await onThreads(Self.threads) { thread in
      for number in 0..<Self.transfers {
        let context = bank.context("visitor \(thread).\(number)")
        if thread.isMultiple(of: 2) { context.performAndWait { context.automaticallyMergesChangesFromParent = true } }
        try context.performAndWait {
          context.mergePolicy = AddingPolicy()
          context.object(with: bank.accounts[number % 3]).balance += 1
          try save(context)
        }
        // Nobody waits for this block to run before dropping the context.
        context.perform { [id = bank.accounts[0]] in _ = context.object(with: id).balance }
      }
    }
    #expect(try bank.saved().balances.reduce(0, +) == 3000 + Int64(Self.threads * Self.transfers))
  }

  // MARK: What belongs to no queue

  @Test("An object's identifier, entity and context, and a context's name, may be read on any thread.")
  func exemptCalls() async throws {
    let bank = try Bank(accounts: 1)
    let context = Handed(bank.context("anywhere"))
    let account = Handed(context.value.performAndWait { context.value.object(with: bank.accounts[0]) })
    try await onThreads(Self.threads) { _ in
      for _ in 0..<100 {
        #expect(account.value.objectID == bank.accounts[0])
        #expect(account.value.entity.name == "Account")
        #expect(account.value.managedObjectContext === context.value)
        #expect(context.value.name == "anywhere")
        #expect(context.value.concurrencyType == .privateQueueConcurrencyType)
        #expect(context.value.persistentStoreCoordinator === bank.coordinator)
      }
    }
  }
}
