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
