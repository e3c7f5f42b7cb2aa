import Synchronization

/// The sequences that snapshots hold.
final class SnapshotRegistry: Sendable {
  private let pinned = Lock(PinnedSequences())
  private let total = Atomic<Int>(0)

  /// Pins the newest published sequence, which `published` reads.
  @inline(__always)
  func register(_ published: () -> CommitSequence) -> CommitSequence {
    // Counted before the sequence is read: a writer that finds nobody counted has published before that.
    total.add(1, ordering: .sequentiallyConsistent)
    return pinned.withLock { pinned in
      let sequence = published()
      pinned.add(sequence)
      return sequence
    }
  }

  /// Returns true if it was the last snapshot of this sequence.
  func release(_ sequence: CommitSequence) -> Bool {
    defer { total.subtract(1, ordering: .sequentiallyConsistent) }
    return pinned.withLock { $0.remove(sequence) }
  }

  var isEmpty: Bool { total.load(ordering: .sequentiallyConsistent) == 0 }

  /// The oldest sequence that is held.
  var oldest: CommitSequence? { pinned.withLock { $0.oldest } }

  /// The newest sequence that is held in `lower..<upper`.
  func newest(from lower: CommitSequence, below upper: CommitSequence) -> CommitSequence? {
    pinned.withLock { $0.newest(from: lower, below: upper) }
  }
}

/// Rising sequences, each with the number of snapshots that hold it.
///
/// A sequence that is removed in the middle stays as a gap until there are more gaps than other entries. A gap refers
/// to the entry before it; a search that passes gaps makes them refer to where it ends (as in Galler and Fischer, "An
/// improved equivalence algorithm", 1964). So each operation takes logarithmic time in the number of entries,
/// amortized.
private struct PinnedSequences {
  private struct Entry {
    let sequence: CommitSequence
    var count: Int
    /// For a gap, where a search for the entry before it continues.
    var before: Int
  }

  private var entries: [Entry] = []
  /// The first entry that is not a gap.
  private var first = 0
  /// The number of entries that are not gaps.
  private var used = 0

  var oldest: CommitSequence? { used == 0 ? nil : entries[first].sequence }

  /// `sequence` must not be below any existing one.
  mutating func add(_ sequence: CommitSequence) {
    if let last = entries.last, last.sequence == sequence {
      if last.count == 0 { used += 1 }
      entries[entries.count - 1].count += 1
      first = min(first, entries.count - 1)
    } else {
      if used == 0 { first = entries.count }
      entries.append(Entry(sequence: sequence, count: 1, before: entries.count - 1))
      used += 1
    }
  }

  /// Returns true if no snapshot holds the sequence any more.
  mutating func remove(_ sequence: CommitSequence) -> Bool {
    let index = entries.partitioningIndex { $0.sequence >= sequence }
    guard index < entries.count, entries[index].sequence == sequence, entries[index].count > 0 else { return false }
    entries[index].count -= 1
    guard entries[index].count == 0 else { return false }
    used -= 1
    while first < entries.count, entries[first].count == 0 { first += 1 }
    if entries.count > 2 * used + 16 { closeGaps() }
    return true
  }

  mutating func newest(from lower: CommitSequence, below upper: CommitSequence) -> CommitSequence? {
    let index = lastUsed(entries.partitioningIndex { $0.sequence >= upper } - 1)
    return index >= 0 && entries[index].sequence >= lower ? entries[index].sequence : nil
  }

  /// The last entry at or before `index` that is not a gap; negative if there is none.
  private mutating func lastUsed(_ index: Int) -> Int {
    var found = index
    while found >= 0, entries[found].count == 0 { found = entries[found].before }
    var passed = index
    while passed > found {
      let next = entries[passed].before
      entries[passed].before = found
      passed = next
    }
    return found
  }

  private mutating func closeGaps() {
    entries.removeAll { $0.count == 0 }
    for index in entries.indices { entries[index].before = index - 1 }
    first = 0
  }
}
