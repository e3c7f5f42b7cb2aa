import Foundation
import Synchronization
import Testing

@testable import Cairn

@Suite struct SnapshotRegistryConcurrencyTests {
  /// A registry with one reader, and what its writer has dropped.
  private final class Versions: Sendable {
    let snapshots = SnapshotRegistry()
    let published = Atomic<UInt64>(0)
    /// What snapshots before this commit see has been dropped.
    let dropped = Atomic<UInt64>(0)

    /// As the committer does it.
    func commit() {
      let sequence = published.load(ordering: .relaxed) + 1
      published.store(sequence, ordering: .sequentiallyConsistent)
      if snapshots.isEmpty { dropped.store(sequence, ordering: .sequentiallyConsistent) }
    }
  }

  @Test("rule 34: a snapshot is counted before it takes its sequence, so that no commit drops what it sees")
  func countedFirst() throws {
    let readerCount = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
    let all = (0..<readerCount).map { _ in Versions() }
    let left = Atomic<Int>(readerCount)
    let threads = Threads()
    threads.start {
      while left.load(ordering: .relaxed) > 0 { for versions in all { versions.commit() } }
    }
    for versions in all {
      threads.start {
        defer { left.subtract(1, ordering: .relaxed) }
        for _ in 0..<chooseRounds(20, debug: 1) * 100_000 {
          let sequence = versions.snapshots.register(versions.published)
          let dropped = versions.dropped.load(ordering: .sequentiallyConsistent)
          _ = versions.snapshots.release(sequence)
          if dropped > sequence { throw Mismatch("commit \(dropped) dropped what snapshot \(sequence) sees") }
        }
      }
    }
    try threads.join()
  }
}
