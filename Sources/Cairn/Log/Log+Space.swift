import Synchronization

/// How long segments are, and how much space is held back.
extension Log {
  /// The length at which a segment is full. On a disk that has space for a short log only, segments are short, too:
  /// when the disk is full, the reserve has space for compaction to write any of them again.
  var fullLength: Int {
    let held = logBytes + reserve.bytes.load(ordering: .relaxed)
    return min(segmentSize, max(Self.firstReservation, held / 16 + directory.freeSpace / 16))
  }

  private var logBytes: Int { segments.withLock { $0 }.reduce(0) { $0 + $1.end.load(ordering: .relaxed) } }

  var longestEnd: Int { segments.withLock { $0 }.reduce(0) { max($0, $1.end.load(ordering: .relaxed)) } }

  /// Bytes to reserve for a segment that is begun.
  var firstLength: Int {
    reserve.isSpent.load(ordering: .relaxed) ? reserve.step : min(Self.firstReservation, segmentSize)
  }

  /// Bytes to begin a segment and to write a manifest.
  var leastReserve: Int { min(Self.firstReservation, segmentSize) + reserve.step }

  /// Bytes for compaction to write a segment as well.
  var reserveSize: Int {
    let length = logBytes
    return length < leastReserve ? 0 : leastReserve + min(segmentSize, length / 4)
  }

  /// For callers that take space and free none.
  func requireReserve() throws(StoreError) {
    guard reserve.isSpent.load(ordering: .relaxed) else { return }
    try StoreError.wrap { () throws(FileError) in try reserve.hold(reserveSize) }
  }

  /// Must not delay a commit: it may wait for the disk.
  func keepReserve() {
    // Without the reserve the disk is full a little earlier.
    do throws(FileError) { try reserve.hold(reserveSize) } catch {}
  }
}
