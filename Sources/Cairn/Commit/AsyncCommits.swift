import Synchronization

/// Commits for callers that must not block: taken up by a thread of the store's own, those that wait together with one sync.
final class AsyncCommits: Sendable {
  private let committer: Committer
  private let log: Log
  private let scheduler: any Scheduler
  private let waiting = Mutex<[Request]>([])

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
      let isFirst = waiting.withLock { waiting in
        waiting.append(Request(batch: batch, durability: durability) { continuation.resume(returning: $0) })
        return waiting.count == 1
      }
      if isFirst { scheduler.schedule { [self] in run() } }
    }
    return try result.get()
  }

  private func run() {
    let requests = waiting.withLock { waiting in
      defer { waiting.removeAll() }
      return waiting
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
