import Synchronization

/// Makes commits as durable as requested, and frees space for those that find none.
///
/// Those of callers that must not block are made by a thread of the store's own; all that are waiting at the same time
/// share one sync.
final class Commits: Sendable {
  private let committer: Committer
  private let log: Log
  private let scheduler: any Scheduler
  /// Frees space for a commit that found none; returns false if it could not.
  private let makeSpace: @Sendable () -> Bool
  private let waiting = Lock<(requests: [Request], isClosed: Bool)>(([], false))

  private enum Work: Sendable {
    case commit(BatchBuffer, Durability, Cancellation)
    /// Makes an earlier commit durable.
    case sync(CommitSequence)
  }

  /// Whether the caller of a commit no longer wants it.
  private final class Cancellation: Sendable {
    let isRequested = Atomic(false)
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

  /// Returns the commit's sequence once the commit is as durable as requested.
  func make(_ commit: some Commit, _ durability: Durability) throws(StoreError) -> CommitSequence {
    let sequence = try append(commit, durability)
    if durability == .durable { try log.syncs.sync(upTo: sequence) }
    return sequence
  }

  /// If the commit finds no space, waits for compaction to free some, and makes it again, as long as compaction frees
  /// any.
  @inline(__always)
  private func append(_ commit: some Commit, _ durability: Durability) throws(StoreError) -> CommitSequence {
    while true {
      do throws(StoreError) {
        return try committer.append(commit, isSynced: durability == .durable)
      } catch {
        guard error.code == .noSpace else { throw error }
        log.telemetry.post(.spaceLow)
        let start = log.telemetry.begin()
        defer { log.telemetry.endStall(since: start) }
        guard makeSpace() else { throw error }
      }
    }
  }

  /// The same without blocking the calling thread.
  ///
  /// - Throws: also `CancellationError` if the task was cancelled before the commit was appended.
  func submit(_ batch: BatchBuffer, _ durability: Durability) async throws -> CommitSequence {
    let cancellation = Cancellation()
    do {
      return try await withTaskCancellationHandler {
        try await perform(.commit(batch, durability, cancellation))
      } onCancel: {
        cancellation.isRequested.store(true, ordering: .relaxed)
      }
    } catch {
      guard (error as? StoreError)?.code == .cancelled else { throw error }
      throw CancellationError()
    }
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
        case .commit(let batch, let durability, let cancellation):
          guard !cancellation.isRequested.load(ordering: .relaxed) else {
            throw StoreError(.cancelled, "the commit was cancelled")
          }
          let sequence = try append(batch, durability)
          if durability == .durable {
            appended.append((request, sequence))
          } else {
            request.done(.success(sequence))
          }
        case .sync(let sequence):
          appended.append((request, sequence))
        }
      } catch {
        request.done(.failure(error))
      }
    }
    for (request, sequence) in appended {
      do throws(StoreError) {
        try log.syncs.sync(upTo: sequence)
        request.done(.success(sequence))
      } catch {
        request.done(.failure(error))
      }
    }
  }
}
