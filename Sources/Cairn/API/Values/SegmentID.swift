/// The number of a segment, which is also in the name of its file. It is never used twice.
@frozen public struct SegmentID: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The number.
  public let rawValue: UInt32

  /// The number as an id.
  @inlinable
  @inline(__always)
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Whether the left id is the lower one: its segment was begun first.
  @inlinable
  @inline(__always)
  public static func < (left: SegmentID, right: SegmentID) -> Bool { left.rawValue < right.rawValue }
}

extension SegmentID: ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// The number as an id.
  @inlinable
  @inline(__always)
  public init(integerLiteral number: UInt32) { self.init(rawValue: number) }

  /// The number in decimal digits.
  public var description: String { "\(rawValue)" }
}
