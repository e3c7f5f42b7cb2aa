/// Row 5 of table 0: what a store keeps of a remote service as a whole. STORE-FORMAT.md, section 10.
package struct RemoteHead: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The account that the store belongs to.
  package var account: String
  /// The number of the next change in the outbox.
  package var nextChange: UInt64 = 1
  /// Up to where the service's changes have been read; nil if they never were.
  package var cursor: String?

  package init(account: String) { self.account = account }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("it does not begin with \(Self.format)", at: 0) }
    account = try input.text()
    nextChange = try input.varint()
    cursor = try input.optionalText()
    guard 1...UInt64(Int64.max) ~= nextChange else { throw input.damage("the number of a change is out of range") }
    try input.requireEnd()
  }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.text(account)
    output.varint(nextChange)
    output.optionalText(cursor)
    return output.bytes
  }
}

extension ByteOutput {
  package mutating func optionalText(_ text: String?) {
    byte(text == nil ? 0 : 1)
    if let text { self.text(text) }
  }

  /// Writes ascending numbers as their differences.
  package mutating func ascending(_ numbers: [UInt64]) {
    varint(numbers.count)
    var last: UInt64 = 0
    for number in numbers {
      varint(number - last)
      last = number
    }
  }
}

extension ByteInput {
  package mutating func optionalText() throws(RowDamage) -> String? {
    switch try byte() {
    case 0: return nil
    case 1: return try text()
    default: throw damage("a text is neither absent nor present")
    }
  }

  /// Reads numbers above 0 that ascend.
  package mutating func ascending() throws(RowDamage) -> [UInt64] {
    var numbers: [UInt64] = []
    for _ in 0..<(try count()) {
      let (number, overflow) = (numbers.last ?? 0).addingReportingOverflow(try varint())
      guard !overflow, number > numbers.last ?? 0 else { throw damage("numbers do not ascend") }
      numbers.append(number)
    }
    return numbers
  }

  package mutating func flag() throws(RowDamage) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    default: throw damage("a byte is neither 0 nor 1")
    }
  }
}
