import Foundation

/// An asynchronous fetch with any type of results.
protocol AsynchronousFetch {
  func begin(in context: NSManagedObjectContext) throws -> NSPersistentStoreAsynchronousResult
}

extension NSAsynchronousFetchRequest: AsynchronousFetch {
  /// Has another thread ask the stores.
  ///
  /// - Throws: ``FetchRequestError`` for an invalid request.
  func begin(in context: NSManagedObjectContext) throws -> NSPersistentStoreAsynchronousResult {
    context.requireQueue()
    try context.check(fetchRequest)
    let progress = FetchProgress(estimatedResultCount)
    let result = NSAsynchronousFetchResult(self, context, progress)
    AsynchronousFetchRun(result, progress.cancellation).begin()
    return result
  }
}

/// The progress of an asynchronous fetch. A subclass, because Foundation calls the cancellation handler of a progress on
/// another thread, possibly after the fetch has ended.
private final class FetchProgress: Progress, @unchecked Sendable {
  let cancellation = FetchCancellation()

  init(_ estimatedResultCount: Int) {
    super.init(parent: .current(), userInfo: nil)
    totalUnitCount = estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1
  }

  override func cancel() {
    cancellation.request()
    super.cancel()
  }
}

/// An asynchronous fetch on its way to another thread and back. `@unchecked Sendable`: the other thread reads copies of
/// the request, and the result is changed on the queue of the context.
private final class AsynchronousFetchRun<ResultType>: @unchecked Sendable {
  private let result: NSAsynchronousFetchResult<ResultType>
  private let cancellation: FetchCancellation
  /// For the stores: identifiers in place of objects.
  private let request: NSFetchRequest<Any>
  private let isForObjects: Bool

  init(_ result: NSAsynchronousFetchResult<ResultType>, _ cancellation: FetchCancellation) {
    self.result = result
    self.cancellation = cancellation
    request = NSFetchRequest<Any>(copying: result.fetchRequest.fetchRequest)
    isForObjects = request.resultType == .managedObjectResultType
    if isForObjects { request.resultType = .managedObjectIDResultType }
  }

  func begin() {
    let context = result.managedObjectContext
    let reader = NSManagedObjectContext(.privateQueue)
    reader.name = context.name
    if let parent = context.parent {
      reader.parent = parent
    } else {
      reader.persistentStoreCoordinator = context.persistentStoreCoordinator
      reader.generation = context.generation
    }
    reader.perform { [self, reader] in
      let found = Result {
        try FetchCancellation.$current.withValue(cancellation) {
          try FetchCancellation.check()
          return try reader.fetch(request)
        }
      }
      let handed = Handed(value: found)
      result.managedObjectContext.perform { [self] in end(handed.value) }
    }
  }

  private func end(_ found: Result<[Any], any Error>) {
    do {
      try FetchCancellation.check(cancellation)
      result.finalResult = try results(found.get())
    } catch is CancellationError {
      result.finalResult = []
    } catch {
      result.operationError = error
    }
    if let progress = result.progress, !progress.isCancelled {
      progress.totalUnitCount = max(1, Int64(result.finalResult?.count ?? 1))
      progress.completedUnitCount = progress.totalUnitCount
    }
    result.fetchRequest.completionBlock?(result)
  }

  /// The results in the context. If the context has unsaved changes that concern the request, it fetches again.
  private func results(_ found: [Any]) throws -> [ResultType] {
    let context = result.managedObjectContext
    let request = result.fetchRequest.fetchRequest
    guard try !context.hasChanges(concerning: request) else { return try context.fetch(request) }
    guard isForObjects, let ids = found as? [NSManagedObjectID] else { return found.compactMap { $0 as? ResultType } }
    return try context.results(request, with: ids).compactMap { $0 as? ResultType }
  }
}

/// Hands a value to another thread. Only one thread uses the value at a time.
private struct Handed<Value>: @unchecked Sendable {
  let value: Value
}
