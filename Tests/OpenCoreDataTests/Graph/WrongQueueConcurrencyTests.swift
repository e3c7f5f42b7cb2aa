import OpenCoreData
import Testing

/// Using a context on a wrong queue ends the program with a message that names the context.
@Suite struct WrongQueueConcurrencyTests {
  private func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test("a value of an object of a private queue")
  func value() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let context = bank.context("cellar")
      let account = context.performAndWait { context.object(with: bank.accounts[0]) }
      _ = account.value(forKey: "balance")
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("a change of an object of a private queue")
  func change() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let context = bank.context("cellar")
      let account = context.performAndWait { context.object(with: bank.accounts[0]) }
      account.setValue(1, forKey: "balance")
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("a fetch in a private queue's context")
  func fetch() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Bank(accounts: 1).context("cellar")
      _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account"))
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("a save out of a block of another context")
  func otherContext() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let (context, other) = (bank.context("cellar"), bank.context("attic"))
      try other.performAndWait { try context.save() }
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("an insertion behind a block that was left")
  func afterwards() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Bank(accounts: 1).context("cellar")
      context.performAndWait {}
      _ = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("a context of the main queue on a thread of its own")
  func mainQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = Handed(try Bank(accounts: 1).context("lobby", .mainQueue))
      try await onThreads(1) { _ in _ = context.value.registeredObjects }
    }
    #expect(message(result).contains("lobby"))
  }

  @Test("a context of the main queue in a block that waits for a private one is still its own, and the private one too")
  func bothAtOnce() async throws {
    let bank = try Bank(accounts: 1)
    try await MainActor.run {
      let (lobby, cellar) = (bank.context("lobby", .mainQueue), bank.context("cellar"))
      try cellar.performAndWait {
        cellar.object(with: bank.accounts[0]).balance += 1
        lobby.performAndWait { lobby.object(with: bank.accounts[0]).transfers += 1 }
        try cellar.save()
      }
      #expect(lobby.object(with: bank.accounts[0]).transfers == 1)
    }
  }
}
