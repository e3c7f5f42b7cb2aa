/// A decimal number in the form in which keys of indexes have it: STORE-FORMAT.md, section 6.
package struct OrderedDecimal: Hashable, Sendable {
  /// In order of increasing numbers.
  private enum Sign: UInt8 {
    case negative
    case zero
    case positive
  }

  private let sign: Sign
  /// From 0 to 9 each; neither the first nor the last is 0. Empty for zero.
  private let digits: [UInt8]
  /// The number is 0.d₁d₂… × 10 to this power.
  private let exponent: Int

  /// Reads a text as `-12.5` or `1e-05`; nil for any other text, and for a number whose exponent exceeds 16 bits.
  package init?(_ text: String) {
    var rest = Substring(text).utf8
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    let parts = rest.split(separator: UInt8(ascii: "e"), maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let figures = numbers.joined().map { $0 &- UInt8(ascii: "0") }
    let power = parts.count > 1 ? Int(String(parts[1]) ?? "") : 0
    guard let power, power.magnitude < 1 << 15, !figures.isEmpty, figures.allSatisfy({ $0 < 10 }) else { return nil }
    let leading = figures.prefix { $0 == 0 }.count
    guard leading < figures.count else {
      self.init(.zero, [], 0)
      return
    }
    let exponent = numbers[0].count - leading + power
    guard Int16(exactly: exponent) != nil else { return nil }
    let trailing = figures.reversed().prefix { $0 == 0 }.count
    self.init(isNegative ? .negative : .positive, Array(figures[leading..<figures.count - trailing]), exponent)
  }

  private init(_ sign: Sign, _ digits: [UInt8], _ exponent: Int) {
    self.sign = sign
    self.digits = digits
    self.exponent = exponent
  }

  // MARK: Bytes

  func write(to output: inout ByteOutput) {
    output.byte(sign.rawValue)
    guard sign != .zero else { return }
    let power = UInt16(bitPattern: Int16(truncatingIfNeeded: exponent)) ^ 1 << 15
    var bytes = [UInt8(power >> 8), UInt8(truncatingIfNeeded: power)]
    for place in stride(from: 0, to: digits.count, by: 2) {
      bytes.append(digits[place] * 10 + (place + 1 < digits.count ? digits[place + 1] : 0) + 1)
    }
    bytes.append(0)
    output.append(sign == .negative ? bytes.map(~) : bytes)
  }

  init(reading input: inout ByteInput) throws(RowDamage) {
    guard let sign = Sign(rawValue: try input.byte()) else { throw input.damage("a decimal number has no valid sign") }
    guard sign != .zero else {
      self.init(.zero, [], 0)
      return
    }
    let mask: UInt8 = sign == .negative ? 0xFF : 0
    let power = UInt16(try input.byte() ^ mask) << 8 | UInt16(try input.byte() ^ mask)
    var digits: [UInt8] = []
    while true {
      let pair = try input.byte() ^ mask
      guard pair > 0 else { break }
      guard pair <= 100 else { throw input.damage("a decimal number has digits above 99") }
      digits += [(pair - 1) / 10, (pair - 1) % 10]
    }
    if digits.last == 0 { digits.removeLast() }
    guard let first = digits.first, first > 0, digits.last != 0 else {
      throw input.damage("a decimal number begins or ends with the digit 0")
    }
    self.init(sign, digits, Int(Int16(bitPattern: power ^ 1 << 15)))
  }
}

extension OrderedDecimal: CustomStringConvertible {
  /// As `-12.5`, or as `1e40` if the number has zeros between its digits and its point.
  package var description: String {
    guard sign != .zero else { return "0" }
    let figures = digits.map(String.init).joined()
    let number =
      if exponent > digits.count {
        "\(figures)e\(exponent - digits.count)"
      } else if exponent <= 0 {
        exponent > -8 ? "0." + String(repeating: "0", count: -exponent) + figures : "0.\(figures)e\(exponent)"
      } else if exponent == digits.count {
        figures
      } else {
        "\(figures.prefix(exponent)).\(figures.dropFirst(exponent))"
      }
    return sign == .negative ? "-" + number : number
  }
}
