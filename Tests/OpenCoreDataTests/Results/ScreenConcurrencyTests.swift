import Observation
import OpenCoreData
import Synchronization
import Testing

/// Screens on many threads over one store: each shows the accounts with a results controller, observes one of them, and
/// undoes changes of its own, while it merges the saves of the others by itself.
@Suite(.timeLimit(.minutes(30))) struct ScreenConcurrencyTests {
  private final class Screen: @unchecked Sendable {
    let context: NSManagedObjectContext
    let controller: NSFetchedResultsController<NSManagedObject>
    let list = ListOnScreen()
    private let told = Atomic(0)

    init(_ bank: Bank, _ number: Int) throws {
      context = bank.context("screen \(number)")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
      request.sortDescriptors = [NSSortDescriptor(key: "balance", ascending: true)]
      controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      try context.performAndWait {
        context.automaticallyMergesChangesFromParent = true
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.undoManager = UndoManager()
        controller.delegate = list
        try controller.performFetch()
        list.load(controller)
      }
    }

    /// Works on the queue of the context.
    func work(_ random: inout SeededGenerator, _ accounts: [NSManagedObjectID]) throws {
      let account = context.object(with: accounts.randomElement(using: &random)!)
      withObservationTracking {
        _ = account.balance
      } onChange: { [self] in
        told.add(1, ordering: .relaxed)
      }
      account.balance += Int64.random(in: 1...9, using: &random)
      context.processPendingChanges()
      if Bool.random(using: &random) {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
        object.balance = Int64.random(in: 0...2000, using: &random)
        context.processPendingChanges()
        if Bool.random(using: &random) { context.delete(object) }
      }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: context.undo()
      case 1:
        context.undo()
        context.redo()
      default: break
      }
      try context.save()
    }

    /// Compares what is shown with the store, once nobody saves any more.
    func check() throws {
      context.processPendingChanges()
      #expect(list.mistakes == [])
      #expect(list.sections == ListOnScreen.content(controller))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
      let balances = try context.fetch(request).map(\.balance).sorted()
      #expect(controller.fetchedObjects?.map(\.balance) == balances)
      #expect(told.load(ordering: .relaxed) > 0)
    }

    func close() {
      controller.delegate = nil
      context.undoManager = nil
    }
  }

  @Test("Screens that change, undo and save at once all show what the store has in the end.")
  func screens() async throws {
    let bank = try Bank(accounts: 6)
    let seed = chooseSeed()
    let screens = try (0..<3).map { try Screen(bank, $0) }
    try await onThreads(screens.count) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      let screen = screens[thread]
      for _ in 0..<40 { try screen.context.performAndWait { try screen.work(&random, bank.accounts) } }
    }
    for screen in screens {
      // Merges wait on the queue before this block.
      try screen.context.performAndWait {
        try screen.check()
        screen.close()
      }
    }
    let balances = try screens.map { screen in
      try screen.context.performAndWait { try #require(screen.controller.fetchedObjects).map(\.balance) }
    }
    #expect(Set(balances).count == 1)
  }
}
