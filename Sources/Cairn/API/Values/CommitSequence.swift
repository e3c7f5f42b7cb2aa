public import Synchronization

/// The number of a commit. It rises from commit to commit, with gaps, and is never used twice.
///
/// A row has the sequence of the commit that wrote it, a snapshot that of the newest commit it sees. 0 comes before all
/// commits.
@frozen public struct CommitSequence: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The number.
  public let rawValue: UInt64

  /// The sequence with a number.
  @inlinable
  @inline(__always)
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether the left commit came before the right one.
  @inlinable
  @inline(__always)
  public static func < (left: CommitSequence, right: CommitSequence) -> Bool { left.rawValue < right.rawValue }
}

extension CommitSequence: ExpressibleByIntegerLiteral, CustomStringConvertible, AtomicRepresentable {
  /// The sequence with a number.
  @inlinable
  @inline(__always)
  public init(integerLiteral number: UInt64) { self.init(rawValue: number) }

  /// The number in decimal digits.
  public var description: String { "\(rawValue)" }
}
