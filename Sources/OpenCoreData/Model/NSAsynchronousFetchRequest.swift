/// A fetch whose results arrive later: ``NSManagedObjectContext/execute(_:)`` returns an ``NSAsynchronousFetchResult`` at
/// once, and the stores are asked on another thread meanwhile.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// What is fetched. Do not change the request while it is being executed.
  public let fetchRequest: NSFetchRequest<ResultType>

  /// Called on the queue of the context when the fetch has ended.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

  /// How many results are expected: the total of the progress; 0, the default, if that is unknown.
  open var estimatedResultCount = 0

  /// Makes a request; the block is called when it has been executed.
  public init(
    fetchRequest request: NSFetchRequest<ResultType>,
    completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completionBlock = blk
  }

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }
}
