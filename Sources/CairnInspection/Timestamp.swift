import Cairn

/// A time of the log.
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

extension Timestamp {
  /// The time of a date in UTC, with or without a time of day: `2023-11-14`, `2023-11-14T22:13Z`,
  /// `2023-11-14T22:13:20.125+01:00`, or as ``description``. Nil for any other text. Times that cannot be expressed
  /// become the earliest or the latest that can.
  package init?(_ text: String) {
    var rest = text[...]
    guard let day = Self.days(rest.prefix(10)) else { return nil }
    rest = rest.dropFirst(10)
    var (seconds, nanoseconds) = (day * 86_400, 0)
    if !rest.isEmpty {
      guard rest.first == "T" || rest.first == " " else { return nil }
      rest.removeFirst()
      guard let zone = Self.zone(&rest), let time = Self.time(rest) else { return nil }
      seconds += time.seconds - zone
      nanoseconds = time.nanoseconds
    }
    self.init(nanoseconds: nanosecondsSince1970(seconds: seconds, nanoseconds: nanoseconds))
  }

  /// The seconds that the zone at the end of a text is ahead of UTC, without which the text is UTC; removes the zone.
  private static func zone(_ text: inout Substring) -> Int? {
    for utc in ["Z", " UTC"] where text.hasSuffix(utc) {
      text.removeLast(utc.count)
      return 0
    }
    guard let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) else { return 0 }
    let zone = text[text.index(after: sign)...]
    guard zone.count == 5, let (seconds, _) = time(zone) else { return nil }
    defer { text = text[..<sign] }
    return text[sign] == "-" ? -seconds : seconds
  }

  /// The time since midnight: `22:13`, `22:13:20` or `22:13:20.125`.
  private static func time(_ text: Substring) -> (seconds: Int, nanoseconds: Int)? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let clock = parts[0].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard (2...3).contains(clock.count), clock[0] < 24, clock.allSatisfy({ (0..<60).contains($0) }) else { return nil }
    let seconds = clock[0] * 3600 + clock[1] * 60 + (clock.count == 3 ? clock[2] : 0)
    guard time(seconds).prefix(parts[0].count) == parts[0] else { return nil }
    guard parts.count == 2 else { return (seconds, 0) }
    guard clock.count == 3, (1...9).contains(parts[1].count), parts[1].allSatisfy({ "0"..."9" ~= $0 })
    else { return nil }
    let padded = parts[1] + String(repeating: "0", count: 9 - parts[1].count)
    return Int(padded).map { (seconds, $0) }
  }

  /// The days from 1970-01-01 to a date; nil if the text is not a date.
  static func days(_ date: Substring) -> Int? {
    let parts = date.split(separator: "-", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard parts.count == 3, (1...9999).contains(parts[0]), (1...12).contains(parts[1]), (1...31).contains(parts[2])
    else { return nil }
    // Years begin with March, as above.
    let year = parts[1] > 2 ? parts[0] : parts[0] - 1
    let dayOfYear = (153 * (parts[1] > 2 ? parts[1] - 3 : parts[1] + 9) + 2) / 5 + parts[2] - 1
    let day = year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    return self.date(day) == date ? day : nil
  }
}
