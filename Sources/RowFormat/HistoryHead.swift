/// A place in the history of a store: a transaction, or the beginning.
package struct HistoryPosition: Hashable, Sendable {
  /// The number of the transaction; 0 for the beginning.
  package let number: UInt64
  /// A random number that tells the transaction from others that got the same number, after the store has been put back
  /// to an earlier state.
  package let mark: UInt64

  package init(number: UInt64, mark: UInt64) { (self.number, self.mark) = (number, mark) }

  package static let beginning = HistoryPosition(number: 0, mark: 0)
}

/// Row 4 of table 0: STORE-FORMAT.md, section 9.
package struct HistoryHead: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The last transaction.
  package private(set) var last = HistoryPosition.beginning
  /// The last transaction that is not known any more. Whoever has read the history up to an earlier one has missed
  /// changes.
  package private(set) var expired = HistoryPosition.beginning
  /// The number of changes in all transactions so far.
  package private(set) var changes: UInt64 = 0

  package init() {}

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("it does not begin with \(Self.format)", at: 0) }
    last = try input.position()
    expired = try input.position()
    changes = try input.varint()
    guard last.number < UInt64(Int64.max), expired.number <= last.number, changes <= UInt64(Int64.max) else {
      throw input.damage("a number is too large")
    }
    try input.requireEnd()
  }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.position(last)
    output.position(expired)
    output.varint(changes)
    return output.bytes
  }

  /// Adds a transaction. Returns its position.
  package mutating func add(changes count: Int) -> HistoryPosition {
    last = next
    changes += UInt64(count)
    return last
  }

  /// Notes that objects are saved without a transaction. A number is used up, and all positions before it expire.
  package mutating func interrupt() {
    last = next
    expired = last
  }

  /// Notes that a transaction is deleted.
  package mutating func expire(_ position: HistoryPosition) {
    if position.number > expired.number { expired = position }
  }

  private var next: HistoryPosition {
    HistoryPosition(number: last.number + 1, mark: .random(in: .min ... .max))
  }
}

extension ByteOutput {
  fileprivate mutating func position(_ position: HistoryPosition) {
    varint(position.number)
    fixed(position.mark)
  }
}

extension ByteInput {
  fileprivate mutating func position() throws(RowDamage) -> HistoryPosition {
    HistoryPosition(number: try varint(), mark: try fixed(UInt64.self))
  }
}
