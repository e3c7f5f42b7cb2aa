import CairnFoundation
import Foundation

/// Something to be done at a time, and again if it fails.
struct Job: Codable, Sendable {
  enum State: Int, Codable {
    case waiting = 0
    case running = 1
    case done = 2
    case failed = 3
  }

  /// Fields are stored by their numbers, so properties can be renamed.
  enum CodingKeys: Int, CodingKey {
    case queue = 1
    case name = 2
    case state = 3
    case time = 4
    case attempts = 5
  }

  var queue: String
  var name: String
  var state = State.waiting
  /// When a waiting job is due, until when a running one belongs to its worker, or when one has ended.
  var time: Date
  var attempts = 0

  var hasEnded: Bool { state == .done || state == .failed }

  /// Whether a worker may take it. A running job is due again if its worker has not ended it in time.
  func isDue(_ now: Date) -> Bool { !hasEnded && time <= now }
}

extension ValueIndex<Job> {
  /// The jobs that are to be done, in each queue by their times.
  static let due = ValueIndex("due") { job in job.hasEnded ? nil : Key(job.queue, job.time) }
  /// The jobs that have ended, by the times at which they did.
  static let ended = ValueIndex("ended") { job in job.hasEnded ? job.time : nil }
}
