/// Converts Core Data's dates to and from the notation of ISO 8601.
package enum ISODate {
  private static let nanosecondsPerDay: Int64 = 86_400_000_000_000
  /// From 1970-01-01 to 2001-01-01.
  private static let daysBefore = 11_323
  /// The days from 0001-01-01 to 9999-12-31, whose years have four digits, counted from 2001-01-01.
  private static let days = -719_162 - daysBefore...2_932_896 - daysBefore

  /// The date `seconds` after 2001-01-01, as `2001-01-01T00:00:00.5Z`, rounded to nanoseconds; the number of seconds
  /// for a date whose year does not have four digits.
  package static func text(_ seconds: Double) -> String {
    let day = (seconds / 86_400).rounded(.down)
    guard let wholeDays = Int(exactly: day), days.contains(wholeDays) else { return "\(seconds)" }
    let rest = Int64(((seconds - day * 86_400) * 1e9).rounded())
    let nanoseconds = rest % nanosecondsPerDay
    let date = Timestamp.date(wholeDays + daysBefore + Int(rest / nanosecondsPerDay))
    var fraction = Timestamp.digits(nanoseconds % 1_000_000_000, 9)
    while fraction.last == "0" { fraction.removeLast() }
    let time = Timestamp.time(Int(nanoseconds / 1_000_000_000))
    return "\(date)T\(time)\(fraction.isEmpty ? "" : ".")\(fraction)Z"
  }
}

extension ISODate {
  /// The seconds from which ``text(_:)`` has made a text; nil for any other text.
  package static func seconds(_ text: String) -> Double? {
    guard text.hasSuffix("Z") else { return number(text) }
    let parts = text.dropLast().split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = day(parts[0]) else { return nil }
    let time = parts[1].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let clock = time[0].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard clock.count == 3, clock.allSatisfy({ (0..<60).contains($0) }), clock[0] < 24,
      case let seconds = clock[0] * 3600 + clock[1] * 60 + clock[2], Timestamp.time(seconds) == time[0],
      let fraction = time.count == 1 ? 0 : fraction(time[1])
    else { return nil }
    return Double((day - daysBefore) * 86_400 + seconds) + fraction
  }

  /// The seconds of a date whose year does not have four digits, if they are written exactly as by ``text(_:)``: a
  /// number with another meaning, such as the seconds since 1970, is not a date.
  private static func number(_ text: String) -> Double? {
    guard let seconds = Double(text), Self.text(seconds) == text else { return nil }
    return seconds
  }

  private static func fraction(_ digits: Substring) -> Double? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Double("0.\(digits)")
  }

  /// The days from 1970-01-01 to a date; nil if the text is not a date.
  private static func day(_ date: Substring) -> Int? {
    let parts = date.split(separator: "-", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard parts.count == 3, (1...9999).contains(parts[0]), (1...12).contains(parts[1]), (1...31).contains(parts[2])
    else { return nil }
    // Years begin with March, as in `Timestamp`.
    let year = parts[1] > 2 ? parts[0] : parts[0] - 1
    let dayOfYear = (153 * (parts[1] > 2 ? parts[1] - 3 : parts[1] + 9) + 2) / 5 + parts[2] - 1
    let day = year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    return Timestamp.date(day) == date ? day : nil
  }
}
