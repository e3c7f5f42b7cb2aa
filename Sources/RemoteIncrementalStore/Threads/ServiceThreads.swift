import Foundation

/// Threads on which the calls of a service run, so that they need no thread of the concurrency pool: all of those may
/// be waiting for an answer.
final class ServiceThreads: TaskExecutor {
  /// What the threads share with the executor, which they do not retain.
  private final class Jobs: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: [() -> Void] = []
    private var isOver = false

    func add(_ job: @escaping () -> Void) {
      condition.withLock {
        waiting.append(job)
        condition.signal()
      }
    }

    func end() {
      condition.withLock {
        isOver = true
        condition.broadcast()
      }
    }

    func run() {
      while let job = next() { job() }
    }

    private func next() -> (() -> Void)? {
      condition.withLock {
        while waiting.isEmpty {
          if isOver { return nil }
          condition.wait()
        }
        return waiting.removeFirst()
      }
    }
  }

  private let jobs = Jobs()

  init(count: Int = 4) {
    for number in 1...count {
      let thread = Thread { [jobs] in jobs.run() }
      thread.name = "Remote service \(number)"
      thread.start()
    }
  }

  /// Lets the threads end once there is nothing left to do.
  deinit { jobs.end() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.add { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Begins a task on these threads.
  @discardableResult
  func begin<Success>(_ work: sending @escaping () async throws -> Success) -> Task<Success, any Error> {
    Task.detached(executorPreference: self, operation: work)
  }
}
