/// Segments that backups are reading. Compaction may replace them and remove their files meanwhile, but their bytes and
/// their numbers stay until they are given back.
final class LentSegments: Sendable {
  /// How many backups read each segment.
  private let borrowers = Lock<[SegmentID: Int]>([:])

  func lend(_ segments: [Segment]) {
    borrowers.withLock { borrowers in for segment in segments { borrowers[segment.id, default: 0] += 1 } }
  }

  func giveBack(_ segments: [Segment]) {
    borrowers.withLock { borrowers in
      for segment in segments {
        let left = borrowers[segment.id, default: 0] - 1
        borrowers[segment.id] = left > 0 ? left : nil
      }
    }
  }

  func contains(anyOf segments: [Segment]) -> Bool {
    borrowers.withLock { borrowers in segments.contains { borrowers[$0.id] != nil } }
  }
}
