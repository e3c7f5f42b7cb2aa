import OpenCoreData
import Testing

/// Using a context on a wrong queue ends the program with a message that names the context.
@Suite struct WrongQueueConcurrencyTests {
  private func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test("Reading a value of an object outside its private queue ends the program.")
  func value() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let context = bank.context("cellar")
      let account = context.performAndWait { context.object(with: bank.accounts[0]) }
      _ = account.value(forKey: "balance")
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("Changing an object outside its private queue ends the program.")
  func change() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let context = bank.context("cellar")
      let account = context.performAndWait { context.object(with: bank.accounts[0]) }
      account.setValue(1, forKey: "balance")
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("Fetching outside a private queue's context ends the program.")
  func fetch() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Bank(accounts: 1).context("cellar")
      _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account"))
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("Saving a context in a block of another context ends the program.")
  func otherContext() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bank = try Bank(accounts: 1)
      let (context, other) = (bank.context("cellar"), bank.context("attic"))
      try other.performAndWait { try context.save() }
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("Inserting an object after the block of its context has ended ends the program.")
  func afterwards() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Bank(accounts: 1).context("cellar")
      context.performAndWait {}
      _ = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
    }
    #expect(message(result).contains("cellar"))
  }

  @Test("Using a context of the main queue on another thread ends the program.")
  func mainQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = Handed(try Bank(accounts: 1).context("lobby", .mainQueue))
      try await onThreads(1) { _ in _ = context.value.registeredObjects }
    }
    #expect(message(result).contains("lobby"))
  }

  @Test("The main thread may use its own context within a block that waits for a private one.")
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
