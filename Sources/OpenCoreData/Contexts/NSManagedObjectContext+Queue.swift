import Foundation

extension NSManagedObjectContext {
  /// When an asynchronous block runs.
  public enum ScheduledTaskType: Sendable {
    /// At once if the caller is on the queue already, otherwise when its turn in the queue comes.
    case immediate
    /// When its turn in the queue comes.
    case enqueued
  }

  /// Runs a block on the context's queue later, and processes the changes that it has made.
  ///
  /// May be called from any thread.
  public func perform(_ block: @escaping () -> Void) {
    requireQueue()
    let job = QueuedJob(self, block)
    queue.async { job.run() }
  }

  /// Runs a block on the context's queue and waits until it is done. Changes are not processed.
  ///
  /// May be called from any thread, also in a block of the context, and in a block of another context that a block of
  /// this context waits for. A context of the main queue waits until that queue is free: forever, if nothing drains it.
  /// Blocks that would wait for each other end the program.
  public func performAndWait(_ block: () -> Void) { runAndWait(block) }

  /// Runs a block on the context's queue, waits until it is done, and returns its result. Otherwise as the method
  /// without a result, which is a method of its own for applications that declare one with a result themselves, as
  /// they had to once.
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try runAndWait(block) }

  private func runAndWait<T>(_ block: () throws -> T) rethrows -> T {
    let outer = QueueOwnership.current
    if isOwned { return try QueueOwnership.with(self, outer: outer, block) }
    let ownsMainQueue = QueueOwnership.ownsMainQueue
    if let owner = QueueOwnership.owner(outer, ownsMainQueue: ownsMainQueue) {
      QueueWaits.begin(owner, for: self)
    }
    return try queue.sync { try QueueOwnership.with(self, outer: outer, ownsMainQueue: ownsMainQueue, block) }
  }

  /// Runs a block on the context's queue, processes the changes that it has made, and returns its result.
  ///
  /// May be called from any thread; no thread waits meanwhile. If the calling task is cancelled, the block runs
  /// nevertheless, but fetches in it throw `CancellationError`.
  nonisolated(nonsending) public func perform<T, Failure: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
  ) async throws(Failure) -> T {
    requireQueue()
    if schedule == .immediate, isOwned {
      return try QueueOwnership.with(self, outer: .current, block)
    }
    return try await QueuedCall(self, block).result().get()
  }
}

/// A block on its way to a context's queue. `@unchecked Sendable`: it runs once, on that queue.
private final class QueuedJob: @unchecked Sendable {
  private let context: NSManagedObjectContext
  private let block: () -> Void

  init(_ context: NSManagedObjectContext, _ block: @escaping () -> Void) {
    self.context = context
    self.block = block
  }

  func run() {
    QueueOwnership.with(context, outer: nil) {
      block()
      context.processPendingChanges()
    }
  }
}

/// A block on its way to a context's queue, and its result on the way back. `@unchecked Sendable`: the block runs once,
/// on that queue, and the waiting task reads the result after that.
private final class QueuedCall<Value, Failure: Error>: @unchecked Sendable {
  private let context: NSManagedObjectContext
  private let block: () throws(Failure) -> Value
  private let cancellation = FetchCancellation()
  private var made: Result<Value, Failure>?

  init(_ context: NSManagedObjectContext, _ block: @escaping () throws(Failure) -> Value) {
    self.context = context
    self.block = block
  }

  nonisolated(nonsending) func result() async -> Result<Value, Failure> {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
        context.queue.async {
          FetchCancellation.$current.withValue(self.cancellation) { self.run() }
          waiter.resume()
        }
      }
    } onCancel: {
      cancellation.request()
    }
    guard let made else { fatalError("A block of a context has not run.") }
    return made
  }

  private func run() {
    QueueOwnership.with(context, outer: nil) {
      do throws(Failure) {
        made = .success(try block())
      } catch {
        made = .failure(error)
      }
      context.processPendingChanges()
    }
  }
}
