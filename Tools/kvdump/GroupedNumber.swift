import ArgumentParser

extension FixedWidthInteger {
  /// The number with its digits in groups of three, separated by commas.
  var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  /// Nil if the text is no whole number, written with or without commas between groups of three digits.
  init?(grouped text: some StringProtocol) {
    let groups = text.split(separator: ",", omittingEmptySubsequences: false)
    let digits = groups.joined()
    guard groups.count == 1 || (1...3).contains(groups[0].count) && groups.dropFirst().allSatisfy({ $0.count == 3 }),
      digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    self.init(digits)
  }

  /// Parses a number given as an argument, also in the form in which `grouped` prints it.
  static func parse(_ text: String) throws -> Self {
    guard let number = Self(grouped: text) else { throw ValidationError("\(text) is not a whole number from 0 on.") }
    return number
  }
}
