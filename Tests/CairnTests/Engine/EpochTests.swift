import Foundation
import Testing

@testable import Cairn

@Suite struct EpochTests {
  @Test("G9: Memory retired after any thread has pinned an epoch is not reclaimed while the pin lasts.")
  func pinsOfManyThreads() {
    let epochs = Epochs()
    for _ in 0..<200 {
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        let before = epochs.now
        let pin = epochs.pin()
        epochs.advance()
        epochs.advance()
        #expect(epochs.oldestPinned() == before)
        epochs.unpin(pin)
        #expect(epochs.oldestPinned() == epochs.now)
        done.signal()
      }
      thread.start()
      done.wait()
    }
  }

  @Test("G9: No thread pins an epoch whose memory has been reclaimed.") func pinsAreOfThePresent() {
    let epochs = Epochs()
    var limit: UInt64 = 0
    let pin = epochs.pin {
      epochs.advance()
      // Memory that was retired before this epoch can be used again.
      limit = epochs.oldestPinned()
    }
    #expect(limit == epochs.now)
    #expect(epochs.oldestPinned() == limit)
    epochs.advance()
    #expect(epochs.oldestPinned() == limit)
    epochs.unpin(pin)
    #expect(epochs.oldestPinned() == epochs.now)
  }

  @Test func morePinsThanSlots() {
    let epochs = Epochs()
    let first = epochs.now
    var pins = (0..<1000).map { _ in
      epochs.advance()
      return epochs.pin()
    }
    #expect(epochs.oldestPinned() == first + 1)
    for position in 0..<1000 {
      epochs.unpin(pins.removeFirst())
      #expect(epochs.oldestPinned() == min(first + 2 + UInt64(position), epochs.now))
    }
  }
}
