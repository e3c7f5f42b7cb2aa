/// A place in the log.
public struct Place: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number of the segment, which is also the number in its file's name.
  public let segment: SegmentID
  /// Bytes from the beginning of the segment's file.
  public let offset: Int

  package init(segment: SegmentID, offset: Int) {
    self.segment = segment
    self.offset = offset
  }

  /// Whether the left place is earlier in the log.
  public static func < (left: Place, right: Place) -> Bool {
    (left.segment, left.offset) < (right.segment, right.offset)
  }

  /// In words.
  public var description: String { "segment \(segment), offset \(offset)" }

  /// The place as one number, as the log stores it: segment × 2³² + offset in units of 8 bytes.
  package var packed: UInt64 { UInt64(segment.rawValue) << 32 | UInt64(truncatingIfNeeded: offset >> 3) & 0xFFFF_FFFF }

  package init(packed: UInt64) {
    self.init(segment: SegmentID(UInt32(truncatingIfNeeded: packed >> 32)), offset: Int(packed & 0xFFFF_FFFF) << 3)
  }
}

/// Sizes and names that FORMAT.md defines.
package enum Format {
  package static let majorVersion: UInt16 = 1
  package static let minorVersion: UInt16 = 0
  /// The feature bit of keyspaces that retain older versions.
  package static let retention: UInt64 = 1 << 1
  package static let knownFeatures: UInt64 = retention
  package static let unit = 8
  package static let maximumKeyLength = 65_536
  package static let maximumValueLength = 1 << 30
  package static let maximumFrameLength = 1 << 32
  /// The highest segment, keyspace or checkpoint id, and the highest epoch.
  package static let maximumID: UInt32 = 1 << 31
  /// The highest base sequence: low enough to leave sequences for a store's life.
  package static let maximumBaseSequence = CommitSequence(1 << 62)
  /// The highest sequence.
  package static let maximumSequence = CommitSequence(1 << 63)
  package static let maximumGeneration: UInt64 = 1 << 63

  /// The number of a segment or a checkpoint in its file's name.
  package static func fileNumber(_ id: some DistinctNumber) -> String {
    let digits = String(id.rawValue)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
  }

  @inline(__always)
  package static func padded(_ length: Int) -> Int { (length &+ 7) & ~7 }
}

/// The seed that binds the checksums of one segment to their places. FORMAT.md, section 3.
package struct PlaceSeed: Hashable, Sendable {
  package let register: UInt32

  static let none = PlaceSeed(register: 0)

  private init(register: UInt32) { self.register = register }

  package init(store: UInt128, segment: SegmentID, epoch: UInt32) {
    var words: (UInt128, UInt32, UInt32) = (store.littleEndian, segment.rawValue.littleEndian, epoch.littleEndian)
    register = unsafe withUnsafeBytes(of: &words) { unsafe CRC32C.register(0xFFFF_FFFF, $0.baseAddress!, 24) }
  }

  @inline(__always)
  package func start(_ offset: Int) -> UInt32 { register ^ UInt32(truncatingIfNeeded: offset >> 3) }
}
