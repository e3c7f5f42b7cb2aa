/// Bytes of a keyspace's records of some kind in each segment, so that all of them can be released at once. For the
/// writer only.
@safe final class LiveBytes: @unchecked Sendable {
  private var bytes: UnsafeMutableBufferPointer<Int>

  init() { unsafe bytes = UnsafeMutableBufferPointer(start: nil, count: 0) }

  deinit { unsafe bytes.deallocate() }

  /// The counts above zero, by the first extent of each segment.
  var byExtent: [(extent: Int, bytes: Int)] { changes.filter { $0.bytes > 0 } }

  /// All counts other than zero. They may be negative where they count what has been added since some time.
  var changes: [(extent: Int, bytes: Int)] {
    unsafe bytes.indices.filter { unsafe bytes[$0] != 0 }.map { unsafe ($0, bytes[$0]) }
  }

  /// Forgets what was counted in a segment.
  func reset(extent: Int) { if unsafe extent < bytes.count { unsafe bytes[extent] = 0 } }

  @inline(__always)
  func add(_ count: Int, extent: Int) {
    if unsafe extent >= bytes.count { grow(extent) }
    unsafe bytes[extent] &+= count
  }

  private func grow(_ extent: Int) {
    let larger = UnsafeMutableBufferPointer<Int>.allocate(capacity: max(16, (extent + 1) * 3 / 2))
    unsafe larger.initialize(repeating: 0)
    for index in unsafe bytes.indices { unsafe larger[index] = unsafe bytes[index] }
    unsafe bytes.deallocate()
    unsafe bytes = unsafe larger
  }
}
