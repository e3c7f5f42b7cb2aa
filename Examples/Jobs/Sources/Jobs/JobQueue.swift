import Cairn
import CairnFoundation
import Foundation

/// Queues of jobs in a store. Any number of workers may take jobs at once.
struct JobQueue {
  /// How long a job belongs to the worker that has taken it.
  private static let lease: TimeInterval = 30
  private static let mostAttempts = 3

  private let store: Store
  private let counters: Keyspace
  private let jobs: TypedKeyspace<Int, Job>

  init(at path: String) throws {
    store = try Store.open(at: path)
    counters = try store.keyspace("counters")
    jobs = try TypedKeyspace("jobs", in: store, coding: .compact, indexes: [.due, .ended])
  }

  func close() throws { try store.close() }

  /// Makes a store of a backup.
  static func restore(from backup: String, to path: String) throws { try Store.restore(from: backup, to: path) }

  /// Makes a backup, or brings the one that is there up to date, while jobs are added and done.
  func backUp(to directory: String) async throws {
    try await Task.detached { _ = try store.backup(to: directory) }.value
  }

  /// Adds a job under the next number.
  func add(_ name: String, to queue: String, at time: Date) throws -> Int {
    let number = try counters.update("jobs", as: String.self) { value in
      let next = (value.flatMap { Int($0) } ?? 0) + 1
      value = "\(next)"
      return next
    }
    try jobs.put(Job(queue: queue, name: name, time: time), at: number, expecting: .absent)
    return number
  }

  var all: [(id: Int, value: Job)] {
    get throws { try jobs.values() }
  }

  /// Takes the job of a queue that has been due for longest; nil if none is due.
  func take(from queue: String, now: Date) throws -> (number: Int, job: Job)? {
    while let next = try jobs.values(.due, in: Key(queue, Date.distantPast)...Key(queue, now), limit: 1).first {
      let taken = try jobs.update(next.id) { job -> Job? in
        // Another worker may have taken it meanwhile.
        guard job?.isDue(now) == true else { return nil }
        job?.state = .running
        job?.time = now + Self.lease
        job?.attempts += 1
        return job
      }
      if let taken { return (next.id, taken) }
    }
    return nil
  }

  /// Ends a job that a worker has taken. A job that did not succeed waits for twice as long as before.
  func end(_ number: Int, hasSucceeded: Bool, now: Date) throws {
    try jobs.update(number) { job in
      guard let attempts = job?.attempts else { return }
      let isOver = hasSucceeded || attempts == Self.mostAttempts
      job?.state = hasSucceeded ? .done : isOver ? .failed : .waiting
      job?.time = isOver ? now : now + 5 * pow(2, Double(attempts))
    }
  }

  /// Forgets the jobs that ended before a time.
  func forget(endedBefore time: Date) throws -> Int { try jobs.deleteExpired(.ended, before: time) }
}
