import OpenCoreData
import Testing

@Suite struct AsynchronousFetchTests {
  private let bank: Bank

  init() throws { bank = try Bank(accounts: 5) }

  private func request() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
    request.predicate = NSPredicate(format: "balance >= 0")
    return request
  }

  /// Executes a request and waits for its completion block.
  private func execute<ResultType>(
    _ request: NSFetchRequest<ResultType>, in context: NSManagedObjectContext, parent: Progress? = nil,
    _ body: @escaping (NSAsynchronousFetchResult<ResultType>) -> Void = { _ in },
    whenDone check: @escaping (NSAsynchronousFetchResult<ResultType>) -> Void
  ) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      context.performAndWait {
        let request = NSAsynchronousFetchRequest(fetchRequest: request) { result in
          check(result)
          continuation.resume()
        }
        parent?.becomeCurrent(withPendingUnitCount: 1)
        defer { parent?.resignCurrent() }
        do {
          let result = try context.execute(request)
          body(result as! NSAsynchronousFetchResult<ResultType>)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  @Test("An asynchronous fetch gives its results to the completion block, on the queue of the context.")
  func objects() async throws {
    let context = bank.context("reader")
    try await execute(request(), in: context) { result in
      #expect(result.finalResult == nil && result.operationError == nil && result.managedObjectContext === context)
    } whenDone: { result in
      let objects = result.finalResult ?? []
      #expect(Set(objects.map(\.objectID)) == Set(bank.accounts))
      #expect(objects.map(\.balance) == Array(repeating: Bank.opening, count: 5))
      #expect(result.progress?.isFinished == true)
    }
  }

  @Test("An asynchronous fetch takes unsaved changes into account.")
  func changes() async throws {
    let context = bank.context("reader")
    context.performAndWait {
      context.object(with: bank.accounts[0]).balance = -1
      context.delete(context.object(with: bank.accounts[1]))
    }
    try await execute(request(), in: context) { result in
      #expect(Set(result.finalResult?.map(\.objectID) ?? []) == Set(bank.accounts[2...]))
    }
  }

  @Test("An asynchronous fetch gives identifiers, dictionaries and counts.")
  func otherResults() async throws {
    let context = bank.context("reader")
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Account")
    ids.resultType = .managedObjectIDResultType
    try await execute(ids, in: context) { #expect(Set($0.finalResult ?? []) == Set(bank.accounts)) }
    let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Account")
    dictionaries.resultType = .dictionaryResultType
    dictionaries.propertiesToFetch = ["balance"]
    try await execute(dictionaries, in: context) { #expect($0.finalResult?.count == 5) }
    let count = NSFetchRequest<NSNumber>(entityName: "Account")
    count.resultType = .countResultType
    try await execute(count, in: context) { #expect($0.finalResult == [5]) }
  }

  @Test("A fetch that is cancelled ends with an empty result and without an error.", arguments: [false, true])
  func cancelled(_ byProgress: Bool) async throws {
    let context = bank.context("reader")
    try await execute(request(), in: context) { result in
      // The context is busy with this block, so the fetch has not ended.
      if byProgress { result.progress?.cancel() } else { result.cancel() }
    } whenDone: { result in
      #expect(result.finalResult == [] && result.operationError == nil)
    }
  }

  @Test("Cancelling the parent of a fetch's progress cancels the fetch, before the fetch begins and afterwards.")
  func cancelledParent() async throws {
    for isEarly in [false, true] {
      let (context, whole) = (bank.context("reader"), Progress.discreteProgress(totalUnitCount: 1))
      if isEarly { whole.cancel() }
      let (request, body) = (request(), { (_: NSAsynchronousFetchResult<NSManagedObject>) in whole.cancel() })
      try await execute(request, in: context, parent: whole, body) { result in
        #expect(result.finalResult == [] && result.operationError == nil && result.progress?.isCancelled == true)
      }
    }
  }

  @Test("A child fetches asynchronously through its parent.")
  func child() async throws {
    let parent = bank.context("parent")
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = parent
    parent.performAndWait { parent.delete(parent.object(with: bank.accounts[0])) }
    try await execute(request(), in: child) { #expect($0.finalResult?.count == 4) }
  }

  @Test("An invalid request is refused at once.")
  func invalid() throws {
    let context = bank.context("reader")
    let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
    request.predicate = NSPredicate(format: "unknown == 1")
    _ = context.performAndWait {
      #expect(throws: FetchRequestError.self) {
        try context.execute(NSAsynchronousFetchRequest(fetchRequest: request))
      }
    }
  }

  @Test("In a task that is cancelled, a block of `perform` runs, and its fetches throw.")
  func cancelledTask() async throws {
    let context = bank.context("reader")
    let (accounts, request) = (bank.accounts.count, Handed(request()))
    let (started, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let task = Task {
      try await context.perform(schedule: .enqueued) {
        let before = try context.fetch(request.value).count
        started.signal()
        goesOn.wait()
        #expect(throws: CancellationError.self) { try context.fetch(request.value) }
        return before
      }
    }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        started.wait()
        continuation.resume()
      }
    }
    task.cancel()
    goesOn.signal()
    #expect(try await task.value == accounts)
  }
}
