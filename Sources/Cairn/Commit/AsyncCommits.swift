import Synchronization

/// Commits for callers that must not block: taken up by a thread of the store's own, those that wait together with one
/// sync.
final class AsyncCommits: Sendable {
  private let committer: Committer
  private let log: Log
  private let scheduler: any Scheduler
  private let waiting = Lock<(requests: [Request], isClosed: Bool)>(([], false))

  private struct Request: Sendable {
    let batch: BatchBuffer
    let durability: Durability
    let done: @Sendable (Result<UInt64, StoreError>) -> Void
  }

  init(committer: Committer, log: Log, scheduler: any Scheduler) {
    self.committer = committer
    self.log = log
    self.scheduler = scheduler
  }

  func commit(_ batch: BatchBuffer, _ durability: Durability) async throws(StoreError) -> UInt64 {
    let result: Result<UInt64, StoreError> = await withCheckedContinuation { continuation in
      let request = Request(batch: batch, durability: durability) { continuation.resume(returning: $0) }
      let isClosed = waiting.withLock { waiting in
        if waiting.isClosed { return true }
        waiting.requests.append(request)
        // Under the lock: what is taken up here is scheduled before closing ends the scheduler.
        if waiting.requests.count == 1 { scheduler.schedule { [self] in run() } }
        return false
      }
      if isClosed { request.done(.failure(StoreError(.closed, "the store is closed"))) }
    }
    return try result.get()
  }

  /// Takes up nothing more. What was taken up is done before the scheduler ends.
  func close() {
    waiting.withLock { $0.isClosed = true }
  }

  private func run() {
    let requests = waiting.withLock { waiting in
      defer { waiting.requests.removeAll() }
      return waiting.requests
    }
    var appended: [(Request, UInt64)] = []
    for request in requests {
      do throws(StoreError) {
        let sequence = try committer.append(request.batch, isSynced: request.durability == .durable)
        if request.durability == .durable {
          appended.append((request, sequence))
        } else {
          request.done(.success(sequence))
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
}
