import Synchronization

/// The records of some commits in segments that compaction wrote: in the order of the commits, while the segments have
/// them in the order of their keys.
struct MovedRecords: Sendable {
  struct Entry: BitwiseCopyable, Sendable {
    let sequence: CommitSequence
    let segment: SegmentID
    /// In units.
    let offset: UInt32
  }

  /// The next one last.
  private(set) var entries: [Entry] = []
  /// Up to this commit, no record is missing.
  private(set) var bound: CommitSequence
  private let after: CommitSequence
  private let most: Int
  /// At this many records, those of the last commits are left out.
  private var limit: Int

  /// - Parameter most: how many records to keep in mind; more only if one commit has more.
  init(after sequence: CommitSequence, upTo bound: CommitSequence, most: Int) {
    after = sequence
    self.bound = bound
    self.most = most
    limit = 2 * most
  }

  var nextSequence: CommitSequence? { entries.last?.sequence }

  mutating func popLast() -> Entry? { entries.popLast() }

  /// Adds what a segment has of the commits.
  mutating func add(_ segment: Segment) throws(StoreError) {
    let end = segment.end.load(ordering: .acquiring)
    var newest: CommitSequence = 0
    var offset = SegmentHeader.size
    while offset < end {
      guard let frame = unsafe FrameHeader(segment.mapping.base + offset, available: end - offset) else {
        throw segment.corruption(at: offset)
      }
      let frameEnd = offset + frame.length
      var position = offset + FrameHeader.size
      while position < frameEnd {
        // A damaged sequence would hide a change.
        let record = try segment.record(at: position, before: frameEnd).header
        newest = max(newest, record.sequence)
        if record.sequence > after, record.sequence <= bound {
          entries.append(
            Entry(sequence: record.sequence, segment: segment.id, offset: UInt32(position / Format.unit)))
          if entries.count >= limit { keepFirst() }
        }
        position += record.paddedLength
      }
      offset += frame.length
    }
    segment.newestRecord.store(newest, ordering: .relaxed)
  }

  /// Puts the records in order, once all segments have been added.
  mutating func sort() {
    if entries.count > most { keepFirst() }
    entries.sort { ($1.sequence, $1.segment, $1.offset) < ($0.sequence, $0.segment, $0.offset) }
  }

  /// Keeps the records of the first commits.
  private mutating func keepFirst() {
    entries.sort { $0.sequence < $1.sequence }
    bound = entries[most - 1].sequence
    entries.removeSubrange(entries.partitioningIndex { $0.sequence > bound }...)
    limit = 2 * max(most, entries.count)
  }
}

extension Segment {
  func corruption(at offset: Int) -> StoreError {
    StoreError(.corrupted, "a record is damaged", place: Place(segment: id, offset: offset))
  }
}
