/// Row 3 of table 0: STORE-FORMAT.md, section 8.
package struct NumbersGivenOut: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The identity of the store that wrote the row.
  package let store: UInt128
  package let base: UInt64
  package let range: UInt64
  /// The first count that is not reserved.
  package let next: UInt64

  package init(store: UInt128, base: UInt64, range: UInt64, next: UInt64) {
    (self.store, self.base, self.range, self.next) = (store, base, range, next)
  }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("it does not begin with \(Self.format)", at: 0) }
    store = try input.fixed(UInt128.self)
    base = try input.varint()
    range = try input.varint()
    next = try input.varint()
    guard base < 1 << 30, range < 1 << 31, next <= 1 << 32 else { throw input.damage("a number is too large") }
    guard next > 0 else { throw input.damage("the next count is below 1") }
    try input.requireEnd()
  }

  /// The last number that is reserved.
  package var last: UInt64 { range << 32 + next - 1 }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.fixed(store)
    output.varint(base)
    output.varint(range)
    output.varint(next)
    return output.bytes
  }
}
