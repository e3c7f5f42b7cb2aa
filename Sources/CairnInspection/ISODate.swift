/// Converts Core Data's dates to and from the notation of ISO 8601.
package enum ISODate {
  /// From 1970-01-01 to 2001-01-01.
  private static let daysBefore = 11_323
  /// The days from 0001-01-01 to 9999-12-31, whose years have four digits, counted from 2001-01-01.
  private static let days = -719_162 - daysBefore...2_932_896 - daysBefore

  /// The date `seconds` after 2001-01-01, as `2001-01-01T00:00:00.5Z`, with as many decimal places as ``seconds(_:)``
  /// needs to read the same number again; the number of seconds for a date whose year does not have four digits.
  package static func text(_ seconds: Double) -> String {
    guard let whole = Int(exactly: seconds.rounded(.down)) else { return "\(seconds)" }
    let second = (whole % 86_400 + 86_400) % 86_400
    let day = (whole - second) / 86_400
    guard days.contains(day) else { return "\(seconds)" }
    let places = seconds < 0 ? complement(decimalPlaces(-seconds)) : decimalPlaces(seconds)
    let fraction = places.isEmpty ? "" : ".\(places)"
    return "\(Timestamp.date(day + daysBefore))T\(Timestamp.time(second))\(fraction)Z"
  }

  /// The decimal places of a positive number in the shortest notation that is read as the same number, without zeros at
  /// the end.
  private static func decimalPlaces(_ number: Double) -> String {
    let parts = "\(number)".split(separator: "e")
    var places = String(parts[0].drop { $0 != "." }.dropFirst())
    if parts.count == 2, let exponent = Int(parts[1]) {
      // Only small numbers have an exponent, as 1.5e-05.
      places = String(repeating: "0", count: max(0, -exponent - 1)) + parts[0].filter { $0 != "." }
    }
    while places.last == "0" { places.removeLast() }
    return places
  }

  /// The decimal places of 1 - 0.`places`, which do not end with a zero.
  private static func complement(_ places: String) -> String {
    var digits = Array(places.utf8)
    for place in digits.indices {
      digits[place] = 2 * UInt8(ascii: "0") + (place == digits.count - 1 ? 10 : 9) - digits[place]
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

extension ISODate {
  /// The seconds from which ``text(_:)`` has made a text; nil for any other text.
  package static func seconds(_ text: String) -> Double? {
    guard text.hasSuffix("Z") else { return number(text) }
    let parts = text.dropLast().split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = Timestamp.days(parts[0]) else { return nil }
    let time = parts[1].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let clock = time[0].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard clock.count == 3, clock.allSatisfy({ (0..<60).contains($0) }), clock[0] < 24,
      case let seconds = clock[0] * 3600 + clock[1] * 60 + clock[2], Timestamp.time(seconds) == time[0],
      let places = time.count == 1 ? "" : places(time[1])
    else { return nil }
    let whole = (day - daysBefore) * 86_400 + seconds
    return whole >= 0 || places.isEmpty
      ? Double("\(whole).\(places)0") : Double("-\(-(whole + 1)).\(complement(places))")
  }

  /// The seconds of a date whose year does not have four digits, if they are written exactly as by ``text(_:)``: a
  /// number with another meaning, such as the seconds since 1970, is not a date.
  private static func number(_ text: String) -> Double? {
    guard let seconds = Double(text), Self.text(seconds) == text else { return nil }
    return seconds
  }

  /// Decimal places without zeros at their end; nil if they are no digits.
  private static func places(_ digits: Substring) -> String? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    var places = String(digits)
    while places.last == "0" { places.removeLast() }
    return places
  }
}
