import Cairn
import CairnSimulation
import Testing

@Suite("The clock of the machine")
struct ClockTests {
  @Test("The clock returns 0 for times before 1970, and its greatest value for times after 2554.")
  func limits() {
    #expect(nanosecondsSince1970(seconds: 0, nanoseconds: 0) == 0)
    #expect(nanosecondsSince1970(seconds: -1, nanoseconds: 999_999_999) == 0)
    #expect(nanosecondsSince1970(seconds: .min, nanoseconds: 0) == 0)
    #expect(nanosecondsSince1970(seconds: 1, nanoseconds: 5) == 1_000_000_005)
    #expect(nanosecondsSince1970(seconds: 18_446_744_073, nanoseconds: 709_551_615) == .max)
    #expect(nanosecondsSince1970(seconds: 18_446_744_073, nanoseconds: 709_551_616) == .max)
    #expect(nanosecondsSince1970(seconds: .max, nanoseconds: 999_999_999) == .max)
  }

  @Test("The clock returns the present time.")
  func present() { #expect(systemClock() > 1_700_000_000_000_000_000) }
}
