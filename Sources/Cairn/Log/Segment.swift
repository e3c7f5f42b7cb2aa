import Synchronization

/// One file of the log, mapped for reading. Its counts are written by the holder of the commit lock and read by any
/// thread.
package final class Segment: Sendable, Numbered {
  package let id: SegmentID
  let epoch: UInt32
  let file: any File
  let mapping: any Mapping
  let seed: PlaceSeed
  let baseSequence: CommitSequence
  /// Its extents in the segment table.
  let extents: Range<Int>
  /// Whether compaction wrote it. Then it is not part of the chain of commits.
  let isCompacted: Bool
  /// It contains no record superseded at or before this commit; 0 in a segment that compaction did not write.
  private let purged = Atomic<CommitSequence>(0)
  /// Like `purged`, but not counting older records that snapshots need, as long as they need them.
  private let purgedApartFromPinned = Atomic<CommitSequence>(0)
  /// Whether a snapshot needs an older record in it of a keyspace that retains versions, or a row of a dropped
  /// keyspace, so that compacting it again would free nothing.
  let isHeldBack = Atomic<Bool>(false)
  /// Length of the header and all frames.
  let end: Atomic<Int>
  /// The newest commit that a record in it may belong to.
  let lastSequence: Atomic<CommitSequence>
  /// Bytes of records that are the newest of an existing row, or that their keyspace retains.
  let liveBytes = Atomic<Int>(0)
  /// Bytes of older records that a snapshot needs.
  let pinnedBytes = Atomic<Int>(0)
  /// Bytes of tombstones that are not retained.
  let tombstoneBytes = Atomic<Int>(0)
  /// Of these, the bytes of tombstones to which indexes refer, because a snapshot needs an older record of the row.
  let heldTombstoneBytes = Atomic<Int>(0)
  /// Bytes that compaction put here and that are neither rows nor tombstones; they stay needed.
  let overhead = Atomic<Int>(0)
  /// Dictionaries that values in it may be compressed with.
  let dictionaries = Lock<Set<DictionaryID>>([])
  private let newestDictionary = Atomic<DictionaryID>(0)
  /// In a segment that compaction wrote, the newest commit of which it has a record, once that is known; `.max` before.
  let newestRecord = Atomic<CommitSequence>(.max)
  /// Whether the log has copies of its needed records, so that it will be removed.
  let isReplaced = Atomic<Bool>(false)
  /// Whether a record in it has been found damaged; then the segment is left as it is.
  let isQuarantined = Atomic<Bool>(false)

  init(
    id: SegmentID, epoch: UInt32, file: any File, mapping: any Mapping, seed: PlaceSeed,
    baseSequence: CommitSequence, extents: Range<Int>, end: Int, lastSequence: CommitSequence, isCompacted: Bool = false
  ) {
    self.id = id
    self.epoch = epoch
    self.file = file
    self.mapping = mapping
    self.seed = seed
    self.baseSequence = baseSequence
    self.extents = extents
    self.isCompacted = isCompacted
    self.end = Atomic(end)
    self.lastSequence = Atomic(lastSequence)
  }

  /// The first of its extents; live bytes are counted by it.
  var extent: Int { extents.lowerBound }

  /// Counts bytes of records that are live, or pinned.
  func count(_ bytes: Int, isPinned: Bool) {
    if isPinned { pinnedBytes.add(bytes, ordering: .relaxed) } else { liveBytes.add(bytes, ordering: .relaxed) }
  }

  /// Notes that a value is compressed with a dictionary; 0 stands for none. Only one thread at a time may call this.
  @inline(__always)
  func use(dictionary: DictionaryID) {
    guard dictionary > 0, newestDictionary.load(ordering: .relaxed) != dictionary else { return }
    newestDictionary.store(dictionary, ordering: .relaxed)
    dictionaries.withLock { _ = $0.insert(dictionary) }
  }

  /// It contains no record superseded at or before this commit, whichever snapshots end.
  var purgedSequence: CommitSequence { purged.load(ordering: .relaxed) }

  /// A tombstone at or before this commit deletes no record in this segment, unless an index refers to the tombstone.
  var horizon: CommitSequence {
    max(isCompacted ? 0 : baseSequence, purgedApartFromPinned.load(ordering: .acquiring))
  }

  /// Notes that it contains no record superseded at or before a commit. `apartFromPinned` is that commit if
  /// older records that snapshots need do not count.
  func purge(upTo sequence: CommitSequence, apartFromPinned: CommitSequence) {
    purged.store(sequence, ordering: .relaxed)
    purgedApartFromPinned.store(apartFromPinned, ordering: .releasing)
  }

  /// Notes that it contains an older record that a commit has superseded and that no snapshot needs any more.
  func losePinned(supersededBy sequence: CommitSequence) {
    // Records superseded since the segment was written are newer than its horizon anyway.
    guard sequence <= lastSequence.load(ordering: .relaxed) else { return }
    isHeldBack.store(false, ordering: .relaxed)
    let left = max(purgedSequence, sequence.previous)
    guard left < purgedApartFromPinned.load(ordering: .relaxed) else { return }
    purgedApartFromPinned.store(left, ordering: .releasing)
  }

  /// Bytes of records that are needed.
  var neededBytes: Int {
    liveBytes.load(ordering: .relaxed) + pinnedBytes.load(ordering: .relaxed)
      + heldTombstoneBytes.load(ordering: .relaxed)
  }

  /// Bytes of tombstones to which no index refers.
  var looseTombstoneBytes: Int {
    max(0, tombstoneBytes.load(ordering: .relaxed) - heldTombstoneBytes.load(ordering: .relaxed))
  }

  package static func fileName(_ id: SegmentID) -> String { "\(Format.fileNumber(id)).segment" }

  static func discardedName(_ id: SegmentID, _ offset: Int) -> String { "\(Format.fileNumber(id))-\(offset).discarded" }
}
