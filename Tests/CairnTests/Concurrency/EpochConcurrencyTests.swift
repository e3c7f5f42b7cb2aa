import Foundation
import Synchronization
import Testing

@testable import Cairn

@Suite struct EpochConcurrencyTests {
  /// Epochs with one reader, and what their writer has given back.
  private final class Reclaimed: Sendable {
    let epochs = Epochs()
    /// What was retired before this epoch has been given back.
    let limit = Atomic<UInt64>(0)
  }

  /// More readers than cores: most of those that are stopped between two steps were sent to sleep there.
  @Test("rule 35: nobody pins an epoch of which memory has been given back") func pinsAreOfThePresent() throws {
    let readerCount = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
    let all = (0..<readerCount).map { _ in Reclaimed() }
    let left = Atomic<Int>(readerCount)
    let threads = Threads()
    threads.start {
      while left.load(ordering: .relaxed) > 0 {
        for reclaimed in all {
          reclaimed.epochs.advance()
          reclaimed.limit.store(reclaimed.epochs.oldestPinned(), ordering: .sequentiallyConsistent)
        }
      }
    }
    for reclaimed in all {
      threads.start {
        defer { left.subtract(1, ordering: .relaxed) }
        for _ in 0..<chooseRounds(20, debug: 1) * 200_000 {
          let before = reclaimed.limit.load(ordering: .sequentiallyConsistent)
          let pin = reclaimed.epochs.pin()
          defer { reclaimed.epochs.unpin(pin) }
          let limit = reclaimed.limit.load(ordering: .sequentiallyConsistent)
          if limit == before { continue }
          // Its own, as no other is pinned.
          let pinned = reclaimed.epochs.oldestPinned()
          if limit > pinned { throw Mismatch("epoch \(pinned) is pinned, and \(limit - 1) has been given back") }
        }
      }
    }
    try threads.join()
  }
}
