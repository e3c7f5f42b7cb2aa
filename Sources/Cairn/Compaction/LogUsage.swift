import Synchronization

/// How long the log is at one moment, and how much of it is needed.
struct LogUsage {
  /// Bytes of the log.
  let bytes: Int
  /// Bytes of it that are needed.
  var needed: Int

  init(_ log: Log) {
    let segments = log.segments.withLock { $0 }
    bytes = segments.reduce(0) { $0 + $1.end.load(ordering: .relaxed) }
    needed = segments.reduce(0) { sum, segment in
      sum + segment.neededBytes + segment.overhead.load(ordering: .relaxed) + log.heldTombstoneBytes(of: segment)
    }
  }

  /// Bytes of it that are not needed.
  var excess: Int { bytes - needed }
}
