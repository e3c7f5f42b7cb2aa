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
