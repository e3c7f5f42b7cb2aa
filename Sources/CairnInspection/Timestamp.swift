/// A time from the log, for display.
package struct Timestamp: Sendable, Hashable, CustomStringConvertible {
  package let nanoseconds: UInt64

  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// As `2023-11-14 22:13:20.125 UTC`.
  package var description: String {
    let seconds = Int(nanoseconds / 1_000_000_000)
    let milliseconds = nanoseconds / 1_000_000 % 1000
    return "\(Self.date(seconds / 86_400)) \(Self.time(seconds % 86_400)).\(Self.digits(milliseconds, 3)) UTC"
  }

  /// The date `days` days after 1970-01-01, as `2023-11-14`.
  static func date(_ days: Int) -> String {
    let (year, month, day) = date(days: days)
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
  }

  /// The time `seconds` seconds after midnight, as `22:13:20`.
  static func time(_ seconds: Int) -> String {
    [seconds / 3600, seconds / 60 % 60, seconds % 60].map { digits($0, 2) }.joined(separator: ":")
  }

  static func digits(_ number: some BinaryInteger, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  /// The date `days` days after 1970-01-01 in the Gregorian calendar, whose cycle of 400 years has 146,097 days. Years
  /// begin in March here, so that the leap day is the last day of its year.
  private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let (cycle, dayOfCycle) = (shifted / 146_097, shifted % 146_097)
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    return (cycle * 400 + yearOfCycle + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
  }
}
