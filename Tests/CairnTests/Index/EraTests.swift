import Foundation
import Testing

@testable import Cairn

@Suite struct EraTests {
  @Test("G9: Memory retired after any thread has pinned an era is not reclaimed while the pin lasts.")
  func pinsOfManyThreads() {
    let eras = Eras()
    for _ in 0..<200 {
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        let before = eras.now
        let pin = eras.pin()
        eras.advance()
        eras.advance()
        #expect(eras.oldestPinned() == before)
        eras.unpin(pin)
        #expect(eras.oldestPinned() == eras.now)
        done.signal()
      }
      thread.start()
      done.wait()
    }
  }

  @Test("G9: No thread pins an era whose memory has been reclaimed.") func pinsAreOfThePresent() {
    let eras = Eras()
    var limit: UInt64 = 0
    let pin = eras.pin {
      eras.advance()
      // Memory that was retired before this era can be used again.
      limit = eras.oldestPinned()
    }
    #expect(limit == eras.now)
    #expect(eras.oldestPinned() == limit)
    eras.advance()
    #expect(eras.oldestPinned() == limit)
    eras.unpin(pin)
    #expect(eras.oldestPinned() == eras.now)
  }

  @Test func morePinsThanEntries() {
    let eras = Eras()
    let first = eras.now
    var pins = (0..<1000).map { _ in
      eras.advance()
      return eras.pin()
    }
    #expect(eras.oldestPinned() == first + 1)
    for position in 0..<1000 {
      eras.unpin(pins.removeFirst())
      #expect(eras.oldestPinned() == min(first + 2 + UInt64(position), eras.now))
    }
  }
}
