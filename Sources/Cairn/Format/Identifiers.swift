import Synchronization

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

extension SegmentID: DistinctNumber {}

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

extension KeyspaceID: DistinctNumber {}

/// The number of a dictionary. It is never used twice; 0 stands for no dictionary.
@frozen package struct DictionaryID: DistinctNumber, AtomicRepresentable {
  package let rawValue: UInt32

  @inline(__always)
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  @inline(__always)
  package init(integerLiteral number: UInt32) { self.init(rawValue: number) }

  @inline(__always)
  package static func < (left: DictionaryID, right: DictionaryID) -> Bool { left.rawValue < right.rawValue }

  package var description: String { "\(rawValue)" }
}

/// The number of a checkpoint, which is also in the name of its file.
@frozen package struct CheckpointID: DistinctNumber, AtomicRepresentable {
  package let rawValue: UInt32

  @inline(__always)
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  @inline(__always)
  package init(integerLiteral number: UInt32) { self.init(rawValue: number) }

  @inline(__always)
  package static func < (left: CheckpointID, right: CheckpointID) -> Bool { left.rawValue < right.rawValue }

  package var description: String { "\(rawValue)" }
}
