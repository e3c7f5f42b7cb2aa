/// The hash of a row's key in its keyspace: where the indexes have the row. FORMAT.md, section 7.
@frozen package struct RowHash: DistinctNumber {
  package let rawValue: UInt64

  @inline(__always)
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  @inline(__always)
  package init(integerLiteral number: UInt64) { self.init(rawValue: number) }

  @inline(__always)
  package static func < (left: RowHash, right: RowHash) -> Bool { left.rawValue < right.rawValue }

  package var description: String { "\(rawValue)" }
}
