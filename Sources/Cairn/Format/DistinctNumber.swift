/// A number of one kind, which the compiler keeps apart from numbers of other kinds.
package protocol DistinctNumber:
  RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
where RawValue: FixedWidthInteger & BitwiseCopyable & Sendable {
  init(rawValue: RawValue)
}

extension DistinctNumber {
  @inline(__always)
  package init(_ rawValue: RawValue) { self.init(rawValue: rawValue) }

  /// The next higher number.
  @inline(__always)
  package var next: Self { Self(rawValue &+ 1) }

  /// The next lower number.
  package var previous: Self { Self(rawValue &- 1) }
}

extension DistinctNumber where RawValue == UInt32 {
  /// The highest id that is ever given out.
  package static var highest: Self { Self(Format.maximumID) }
}

extension ByteReader {
  package mutating func next<N: DistinctNumber>(_ type: N.Type) -> N? { next(N.RawValue.self).map { N($0) } }
}

extension ByteWriter {
  mutating func append(_ number: some DistinctNumber) { append(number.rawValue) }
}
