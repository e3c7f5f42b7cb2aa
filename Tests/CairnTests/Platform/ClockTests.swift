import Cairn
import Testing

@Suite("The clock of the machine")
struct ClockTests {
  @Test("times before 1970 count as its beginning, and times after 2554 as the last one")
  func limits() {
    #expect(nanosecondsSince1970(seconds: 0, nanoseconds: 0) == 0)
    #expect(nanosecondsSince1970(seconds: -1, nanoseconds: 999_999_999) == 0)
    #expect(nanosecondsSince1970(seconds: .min, nanoseconds: 0) == 0)
    #expect(nanosecondsSince1970(seconds: 1, nanoseconds: 5) == 1_000_000_005)
    #expect(nanosecondsSince1970(seconds: 18_446_744_073, nanoseconds: 709_551_615) == .max)
    #expect(nanosecondsSince1970(seconds: 18_446_744_073, nanoseconds: 709_551_616) == .max)
    #expect(nanosecondsSince1970(seconds: .max, nanoseconds: 999_999_999) == .max)
  }

  @Test("shows the present time")
  func present() { #expect(systemClock() > 1_700_000_000_000_000_000) }
}
