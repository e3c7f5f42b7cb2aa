/// Dates as Core Data has them, in the notation of ISO 8601.
package enum ISODate {
  private static let nanosecondsPerDay: Int64 = 86_400_000_000_000
  /// From 1970-01-01 to 2001-01-01.
  private static let daysBefore = 11_323
  /// From 0001-01-01 to 9999-12-31, which four digits name.
  private static let days = -719_162...2_932_896

  /// As `2001-01-01T00:00:00.5Z`, so many seconds after 2001-01-01; only the number of seconds for a date without a year
  /// of four digits.
  package static func text(_ seconds: Double) -> String {
    let day = (seconds / 86_400).rounded(.down)
    guard let wholeDays = Int(exactly: day), days.contains(wholeDays + daysBefore) else { return "\(seconds)" }
    let rest = Int64(((seconds - day * 86_400) * 1e9).rounded())
    let nanoseconds = rest % nanosecondsPerDay
    let date = Timestamp.date(wholeDays + daysBefore + Int(rest / nanosecondsPerDay))
    var fraction = Timestamp.digits(nanoseconds % 1_000_000_000, 9)
    while fraction.last == "0" { fraction.removeLast() }
    let time = Timestamp.time(Int(nanoseconds / 1_000_000_000))
    return "\(date)T\(time)\(fraction.isEmpty ? "" : ".")\(fraction)Z"
  }
}
