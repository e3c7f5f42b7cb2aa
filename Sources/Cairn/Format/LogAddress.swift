/// Where a record is: the number of an extent and, in units of 8 bytes, an offset in it. 0 stands for no record.
@frozen package struct LogAddress: DistinctNumber {
  package let rawValue: UInt64

  @inline(__always)
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  @inline(__always)
  package init(integerLiteral number: UInt64) { self.init(rawValue: number) }

  @inline(__always)
  package static func < (left: LogAddress, right: LogAddress) -> Bool { left.rawValue < right.rawValue }

  package var description: String { "\(rawValue)" }
}
