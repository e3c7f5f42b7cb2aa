import OpenCoreData
import Synchronization
import Testing

/// Children on many threads over one parent. Every loop ends because of an event, none because of elapsed time.
@Suite(.timeLimit(.minutes(30))) struct ChildContextConcurrencyTests {
  @Test("Children that save into one parent, which saves meanwhile, keep the sum of all money.")
  func transfers() async throws {
    let bank = try Bank(accounts: 6)
    let seed = chooseSeed()
    let parent = Handed(bank.context("parent"))
    let tellers = 3
    let working = Atomic(tellers)
    try await onThreads(tellers + 2) { thread in
      let parent = parent.value
      switch thread {
      case tellers:
        while working.load(ordering: .relaxed) > 0 {
          try parent.performAndWait { try parent.save() }
        }
      case tellers + 1:
        while working.load(ordering: .relaxed) > 0 { try audit(parent, bank) }
      default:
        defer { working.subtract(1, ordering: .relaxed) }
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        let child = makeChild("teller \(thread)", parent)
        for _ in 0..<60 {
          let pair = bank.accounts.shuffled(using: &random).prefix(2)
          let amount = Int64.random(in: 1...9, using: &random)
          // No other child changes anything between the reading and the save.
          try parent.performAndWait { try child.performAndWait { try move(amount, pair, child) } }
        }
      }
    }
    try parent.value.performAndWait { try parent.value.save() }
    let (balances, transfers) = try bank.saved()
    #expect(balances.reduce(0, +) == Bank.opening * 6)
    #expect(transfers == Int64(tellers) * 60 * 2)
  }

  private func move(_ amount: Int64, _ pair: ArraySlice<NSManagedObjectID>, _ child: NSManagedObjectContext) throws {
    child.refreshAllObjects()
    let objects = pair.map(child.object)
    objects[0].balance -= amount
    objects[1].balance += amount
    for object in objects { object.transfers += 1 }
    try child.save()
  }

  /// Objects that a child fetches with their values have values of one moment.
  private func audit(_ parent: NSManagedObjectContext, _ bank: Bank) throws {
    let child = makeChild("auditor", parent)
    let total = try child.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
      request.returnsObjectsAsFaults = false
      return try child.fetch(request).reduce(0) { $0 + $1.balance }
    }
    #expect(total == Bank.opening * 6)
  }

  private func makeChild(_ name: String, _ parent: NSManagedObjectContext) -> NSManagedObjectContext {
    let child = NSManagedObjectContext(.privateQueue)
    child.name = name
    child.parent = parent
    return child
  }

  @Test("Blocks that would wait for each other end the program with a message that names their contexts.")
  func cycle() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let contexts = Handed(["cellar", "attic", "kitchen"].map { bank.context($0) })
      let hold = contexts.value.map { _ in DispatchSemaphore(value: 0) }
      try await onThreads(3) { thread in
        let (own, next) = (contexts.value[thread], contexts.value[(thread + 1) % 3])
        own.performAndWait {
          // All three own their queues before the first waits for another.
          for semaphore in hold { semaphore.signal() }
          for _ in 0..<3 { hold[thread].wait() }
          next.performAndWait {}
        }
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("cellar") && message.contains("attic") && message.contains("kitchen"))
  }

  @Test("A block of a parent that waits for a child, whose block fetches, ends the program.")
  func parentWaits() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let parent = bank.context("cellar")
      let child = NSManagedObjectContext(.privateQueue)
      child.name = "attic"
      child.parent = parent
      let (parents, children) = (Handed(parent), Handed(child))
      let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      try await onThreads(2) { thread in
        let (parent, child) = (parents.value, children.value)
        if thread == 0 {
          parent.performAndWait {
            first.signal()
            second.wait()
            child.performAndWait {}
          }
        } else {
          try child.performAndWait {
            first.wait()
            second.signal()
            _ = try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Account"))
          }
        }
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("cellar") && message.contains("attic"))
  }
}
