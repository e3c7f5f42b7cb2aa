#if HTTP
  import Foundation

  /// Dates of headers, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
  enum HTTPDate {
    /// A date of this form; nil if it has another one.
    static func parse(_ text: String) -> Date? {
      let parts = text.split(separator: " ")
      guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: parts[2]) else { return nil }
      let numbers = (parts[4].split(separator: ":") + [parts[1], parts[3]]).compactMap { Int($0) }
      guard numbers.count == 5, numbers.allSatisfy({ 0...9999 ~= $0 }) else { return nil }
      return calendar.date(
        from: DateComponents(
          year: numbers[4], month: month + 1, day: numbers[3], hour: numbers[0], minute: numbers[1],
          second: numbers[2]))
    }

    private static let months: [Substring] = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static let calendar = {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = .gmt
      return calendar
    }()
  }
#endif
