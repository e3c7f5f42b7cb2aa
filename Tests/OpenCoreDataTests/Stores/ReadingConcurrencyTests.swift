import Foundation
import Synchronization
import Testing

@testable import OpenCoreData

/// Contexts that read a store that permits it while others change the store.
@Suite(.timeLimit(.minutes(30))) struct ReadingConcurrencyTests {
  private static let transfers = 200

  @Test("Contexts fetch, read faults and get identifiers while another thread keeps everybody from saving.")
  func readingBesideASave() async throws {
    let bank = try Bank(accounts: 3, .concurrent)
    let (isHeld, isRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    try await onThreads(2) { thread in
      guard thread == 0 else {
        return bank.coordinator.performAndWait {
          isHeld.signal()
          #expect(isRead.wait(timeout: .now() + 60) == .success)
        }
      }
      isHeld.wait()
      let context = bank.context("reader")
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
        #expect(try context.count(for: request) == 3)
        #expect(try context.fetch(request).allSatisfy { $0.balance == Bank.opening })
        request.returnsObjectsAsFaults = false
        context.reset()
        #expect(try context.fetch(request).allSatisfy { !$0.isFault })
        let new = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
        try context.obtainPermanentIDs(for: [new])
        #expect(!new.objectID.isTemporaryID)
      }
      isRead.signal()
    }
  }

  @Test("Two coordinators transfer money between the same accounts, and nobody sees a part of a transfer.")
  func branches() async throws {
    let bank = try Bank(accounts: 6, .concurrent)
    let branches = [bank, try bank.branch()]
    let seed = chooseSeed()
    let working = Atomic(2)
    try await onThreads(4) { thread in
      let branch = branches[thread % 2]
      guard thread < 2 else {
        while working.load(ordering: .relaxed) > 0 {
          #expect(try branch.audit().balance == 6 * Bank.opening)
        }
        return
      }
      defer { working.subtract(1, ordering: .relaxed) }
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      let context = branch.context("teller")
      for _ in 0..<Self.transfers {
        let pair = branch.accounts.shuffled(using: &random).prefix(2)
        try context.performAndWait { try transfer(pair, context) }
      }
    }
    for branch in branches {
      #expect(try branch.audit() == (6 * Bank.opening, Int64(4 * Self.transfers)))
    }
  }

  /// Moves money between two accounts, and tries again as long as others have changed them.
  private func transfer(_ pair: ArraySlice<NSManagedObjectID>, _ context: NSManagedObjectContext) throws {
    while true {
      let accounts = pair.map(context.object)
      accounts[0].balance -= 1
      accounts[1].balance += 1
      for account in accounts { account.transfers += 1 }
      do {
        return try context.save()
      } catch let error as NSError where error.code == NSManagedObjectMergeError {
        context.rollback()
        // Only what the stores have now counts, whoever has saved it.
        context.stalenessInterval = 0
        for account in accounts { context.refresh(account, mergeChanges: true) }
        context.stalenessInterval = -1
      }
    }
  }

  @Test("A fetch from two stores sees all of a save that changes both, or nothing of it.")
  func twoStores() async throws {
    let bank = try Bank(accounts: 1, .concurrent)
    let url = URL(filePath: "/second bank \(UUID().uuidString)")
    defer { TestRowStore.forget(url) }
    let second = try bank.coordinator.addPersistentStore(
      ofType: TestRowStore.storeType, configurationName: nil, at: url)
    let opening = bank.context("opening")
    let account = try opening.performAndWait {
      let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: opening)
      opening.assign(account, to: second)
      account.balance = Bank.opening
      try opening.save()
      return account.objectID
    }
    let isDone = Atomic(false)
    try await onThreads(2) { thread in
      guard thread == 0 else {
        while !isDone.load(ordering: .relaxed) {
          let context = bank.context("auditor")
          let total = try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Account")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["balance"]
            return try context.fetch(request).reduce(0) { $0 + ($1["balance"] as! Int64) }
          }
          #expect(total == 2 * Bank.opening)
        }
        return
      }
      defer { isDone.store(true, ordering: .relaxed) }
      let context = bank.context("teller")
      for _ in 0..<Self.transfers {
        try context.performAndWait { try transfer([bank.accounts[0], account], context) }
      }
    }
  }

  @Test("Objects that were deleted while others read them stay deleted for everybody.")
  func deletedForGood() async throws {
    let bank = try Bank(accounts: 300, .concurrent)
    let isDone = Atomic(false)
    try await onThreads(3) { thread in
      guard thread == 0 else {
        while !isDone.load(ordering: .relaxed) {
          let context = bank.context("reader")
          try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
            request.returnsObjectsAsFaults = thread == 1
            _ = try context.fetch(request)
            for id in bank.accounts { _ = try? context.existingObject(with: id) }
          }
        }
        return
      }
      defer { isDone.store(true, ordering: .relaxed) }
      let context = bank.context("closer")
      try context.performAndWait {
        for id in bank.accounts {
          context.delete(context.object(with: id))
          try context.save()
        }
      }
    }
    let context = bank.context("auditor")
    context.performAndWait {
      for id in bank.accounts {
        #expect(throws: (any Error).self) { try context.existingObject(with: id) }
      }
    }
  }

  @Test("A store that contexts read may be removed at any time; then they cannot read it any more.")
  func removal() async throws {
    for _ in 0..<20 {
      let bank = try Bank(accounts: 10, .concurrent)
      let reads = Atomic(0)
      try await onThreads(3) { thread in
        guard thread == 0 else {
          let context = bank.context("reader")
          try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
            request.returnsObjectsAsFaults = false
            while true {
              let count = try context.fetch(request).count
              reads.add(1, ordering: .relaxed)
              guard count > 0 else { return }
              #expect(count == 10)
              context.reset()
            }
          }
          return
        }
        while reads.load(ordering: .relaxed) < 4 {}
        try bank.coordinator.remove(bank.coordinator.persistentStores[0])
      }
      #expect(bank.coordinator.persistentStores.isEmpty)
    }
  }

  // MARK: The lock

  @Test("Threads that change the stores do so alone, also if they read meanwhile.")
  func readersAndChangers() async throws {
    let readers = StoreReaders()
    let seed = chooseSeed()
    // How many threads read and change, not counting those that are within their own change.
    let reading = Atomic(0)
    let changing = Atomic(0)
    try await onThreads(4) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      let number = UInt(thread) + 1
      func read(_ depth: Int, isChanging: Bool) {
        readers.read(number) {
          if !isChanging {
            #expect(changing.load(ordering: .sequentiallyConsistent) == 0)
            reading.add(1, ordering: .sequentiallyConsistent)
          }
          defer { if !isChanging { reading.subtract(1, ordering: .sequentiallyConsistent) } }
          if depth > 0, Bool.random(using: &random) { read(depth - 1, isChanging: isChanging) }
        }
      }
      func change(_ depth: Int) {
        readers.change(number) {
          #expect(reading.load(ordering: .sequentiallyConsistent) == 0)
          #expect(changing.add(1, ordering: .sequentiallyConsistent).oldValue == 0)
          defer { changing.subtract(1, ordering: .sequentiallyConsistent) }
          read(depth, isChanging: true)
        }
      }
      for _ in 0..<2_000 {
        if Int.random(in: 0..<8, using: &random) == 0 { change(1) } else { read(2, isChanging: false) }
      }
    }
  }

  @Test("A thread that reads may change the stores once no other thread reads.")
  func changeWhileReading() async throws {
    let readers = StoreReaders()
    let others = Atomic(0)
    try await onThreads(3) { thread in
      let number = UInt(thread) + 1
      for _ in 0..<1_000 {
        readers.read(number) {
          guard thread == 0 else {
            others.add(1, ordering: .sequentiallyConsistent)
            others.subtract(1, ordering: .sequentiallyConsistent)
            return
          }
          readers.change(number) { #expect(others.load(ordering: .sequentiallyConsistent) == 0) }
        }
      }
    }
  }
}
