public import Foundation

/// The result of a request that is executed later. Its properties may be read on the queue of the context.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that executes the request.
  public let managedObjectContext: NSManagedObjectContext

  /// The progress of the request, a part of the progress that was current when the request was executed. Cancelling the
  /// progress cancels the request. May be used on any thread.
  public let progress: Progress?

  /// Why the request has failed; nil if it has not ended, has succeeded or was cancelled.
  public internal(set) final var operationError: (any Error)?

  init(_ context: NSManagedObjectContext, _ progress: Progress) {
    managedObjectContext = context
    self.progress = progress
  }

  /// Has the request end early, without an error and without results. Has no effect once the request has ended. May be
  /// called on any thread.
  open func cancel() { progress?.cancel() }
}

/// The result of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
  /// The request.
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>

  /// The fetched results; nil before the fetch has ended and if it has failed, empty if it was cancelled.
  public internal(set) final var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, _ progress: Progress) {
    fetchRequest = request
    super.init(context, progress)
  }
}
