import CairnInspection
import Testing

@Suite("Times in the log")
struct TimestampTests {
  @Test(
    "A date in UTC is read with or without a time of day, and with a time zone.",
    arguments: [
      ("2023-11-14 22:13:20.125 UTC", 1_700_000_000_125_000_000), ("2023-11-14T22:13:20Z", 1_700_000_000_000_000_000),
      ("2023-11-14T22:13:20", 1_700_000_000_000_000_000), ("2023-11-14T23:43:20+01:30", 1_700_000_000_000_000_000),
      ("2023-11-14T20:13:20-02:00", 1_700_000_000_000_000_000), ("2023-11-14 22:13", 1_699_999_980_000_000_000),
      ("2023-11-14", 1_699_920_000_000_000_000), ("2024-02-29T00:00:00.000000001Z", 1_709_164_800_000_000_001),
      ("1970-01-01", 0), ("1969-12-31T23:59:59Z", 0), ("0001-01-01", 0), ("9999-12-31", .max),
    ] as [(String, UInt64)])
  func isRead(text: String, nanoseconds: UInt64) {
    #expect(Timestamp(text)?.nanoseconds == nanoseconds)
  }

  @Test(
    "A text that is not a date is refused.",
    arguments: [
      "", "now", "2023", "2023-11", "2023-1-1", "2023-02-29", "2023-13-01", "20231114", "2023-11-14T",
      "2023-11-14X22:13", "2023-11-14T22", "2023-11-14T24:00", "2023-11-14T22:60", "2023-11-14T2:13", "2023-11-14Z",
      "2023-11-14T22:13:20.", "2023-11-14T22:13.5", "2023-11-14T22:13:20.1234567890", "2023-11-14T22:13:20.1e5",
      "2023-11-14T22:13:20 CET", "2023-11-14T22:13+1", "2023-11-14T22:13+25:00", "2023-11-14 22:13:20 UTC UTC",
      "2023-11-14T+1:13", "-023-11-14",
    ])
  func isNotRead(text: String) {
    #expect(Timestamp(text) == nil)
  }

  @Test(
    "A printed time reads as the same millisecond.",
    arguments: [0, 1, 999_999, 1_000_000, 951_782_399_999_999_999, 1_700_000_000_125_000_000, .max] as [UInt64])
  func isReadAsPrinted(nanoseconds: UInt64) {
    #expect(Timestamp("\(Timestamp(nanoseconds: nanoseconds))")?.nanoseconds == nanoseconds / 1_000_000 * 1_000_000)
  }
}
