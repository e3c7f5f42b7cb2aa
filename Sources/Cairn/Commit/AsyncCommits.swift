import Synchronization

/// Commits for callers that must not block. A thread of the store's own makes them; those that are waiting at the same
/// time share one sync.
final class AsyncCommits: Sendable {
  private let committer: Committer
  private let log: Log
  private let scheduler: any Scheduler
  /// Frees space for a commit that found none; returns false if it could not.
  private let makeSpace: @Sendable () -> Bool
  private let waiting = Lock<(requests: [Request], isClosed: Bool)>(([], false))

  private enum Work: Sendable {
    case commit(BatchBuffer, Durability)
    /// Makes an earlier commit durable.
    case sync(CommitSequence)
  }

  private struct Request: Sendable {
    let work: Work
    let done: @Sendable (Result<CommitSequence, StoreError>) -> Void
  }

  init(committer: Committer, log: Log, scheduler: any Scheduler, makeSpace: @escaping @Sendable () -> Bool) {
    self.committer = committer
    self.log = log
    self.scheduler = scheduler
    self.makeSpace = makeSpace
  }

  func commit(_ batch: BatchBuffer, _ durability: Durability) async throws(StoreError) -> CommitSequence {
    try await perform(.commit(batch, durability))
  }

  func sync(upTo sequence: CommitSequence) async throws(StoreError) {
    _ = try await perform(.sync(sequence))
  }

  private func perform(_ work: Work) async throws(StoreError) -> CommitSequence {
    // The result passes through a lock, which orders it before what the caller does next, also for a thread sanitizer.
    let outcome = Lock<Result<CommitSequence, StoreError>?>(nil)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let request = Request(work: work) { result in
        outcome.withLock { $0 = result }
        continuation.resume()
      }
      let isClosed = waiting.withLock { waiting in
        if waiting.isClosed { return true }
        waiting.requests.append(request)
        // Scheduled under the lock, so that an accepted request is scheduled before closing ends the scheduler.
        if waiting.requests.count == 1 { scheduler.schedule { [self] in run() } }
        return false
      }
      if isClosed { request.done(.failure(StoreError(.closed, "the store is closed"))) }
    }
    guard let result = outcome.withLock({ $0 }) else { fatalError("a request is done without a result") }
    return try result.get()
  }

  /// Accepts no more requests. Accepted requests are completed before the scheduler ends.
  func close() {
    waiting.withLock { $0.isClosed = true }
  }

  private func run() {
    let requests = waiting.withLock { waiting in
      defer { waiting.requests.removeAll() }
      return waiting.requests
    }
    var appended: [(Request, CommitSequence)] = []
    for request in requests {
      do throws(StoreError) {
        switch request.work {
        case .commit(let batch, .buffered):
          request.done(.success(try append(batch, isSynced: false)))
        case .commit(let batch, .durable):
          appended.append((request, try append(batch, isSynced: true)))
        case .sync(let sequence):
          appended.append((request, sequence))
        }
      } catch {
        request.done(.failure(error))
      }
    }
    for (request, sequence) in appended {
      do throws(StoreError) {
        try log.sync(upTo: sequence)
        request.done(.success(sequence))
      } catch {
        request.done(.failure(error))
      }
    }
  }

  private func append(_ batch: BatchBuffer, isSynced: Bool) throws(StoreError) -> CommitSequence {
    while true {
      do throws(StoreError) {
        return try committer.append(batch, isSynced: isSynced)
      } catch {
        guard error.code == .noSpace, makeSpace() else { throw error }
      }
    }
  }
}
