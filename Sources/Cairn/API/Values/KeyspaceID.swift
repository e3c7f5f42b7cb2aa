/// The number of a keyspace. It is never used twice, even if the keyspace is dropped.
@frozen public struct KeyspaceID: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The number.
  public let rawValue: UInt32

  /// The number as an id.
  @inlinable
  @inline(__always)
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Whether the left id is the lower one: its keyspace was made first.
  @inlinable
  @inline(__always)
  public static func < (left: KeyspaceID, right: KeyspaceID) -> Bool { left.rawValue < right.rawValue }
}

extension KeyspaceID: ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// The number as an id.
  @inlinable
  @inline(__always)
  public init(integerLiteral number: UInt32) { self.init(rawValue: number) }

  /// The number in decimal digits.
  public var description: String { "\(rawValue)" }
}
