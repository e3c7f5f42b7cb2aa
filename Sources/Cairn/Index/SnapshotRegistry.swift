import Synchronization

/// The sequences at which somebody is reading.
final class SnapshotRegistry: Sendable {
  private let pinned = Lock(PinnedSequences())
  private let total = Atomic<Int>(0)

  /// Pins the newest published sequence, which `published` reads.
  @inline(__always)
  func register(_ published: () -> UInt64) -> UInt64 {
    // Counted before the sequence is read: a writer that finds nobody counted has published before.
    total.add(1, ordering: .sequentiallyConsistent)
    return pinned.withLock { pinned in
      let sequence = published()
      pinned.add(sequence)
      return sequence
    }
  }

  /// True if it was the last snapshot of this sequence.
  func release(_ sequence: UInt64) -> Bool {
    defer { total.subtract(1, ordering: .sequentiallyConsistent) }
    return pinned.withLock { $0.remove(sequence) }
  }

  var isEmpty: Bool { total.load(ordering: .sequentiallyConsistent) == 0 }

  /// The oldest snapshot there is.
  var oldest: UInt64? { pinned.withLock { $0.oldest } }

  /// The newest snapshot in `lower..<upper`.
  func newest(from lower: UInt64, below upper: UInt64) -> UInt64? {
    pinned.withLock { $0.newest(from: lower, below: upper) }
  }
}

/// Sequences that rise, each with the number of snapshots that hold it.
///
/// What is removed in the middle stays as a gap until the gaps are more than the rest. A gap leads to what comes before it,
/// and is led further when it is passed, as in Galler and Fischer, "An improved equivalence algorithm", 1964: whatever is
/// asked takes a logarithm of the number of entries, on average over all that is done.
private struct PinnedSequences {
  private struct Entry {
    let sequence: UInt64
    var count: Int
    /// Where the search for what comes before goes on, if it is a gap.
    var before: Int
  }

  private var entries: [Entry] = []
  /// The first that is no gap.
  private var first = 0
  /// Those that are none.
  private var used = 0

  var oldest: UInt64? { used == 0 ? nil : entries[first].sequence }

  /// `sequence` is none below those there are.
  mutating func add(_ sequence: UInt64) {
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

  /// True if nothing holds it any more.
  mutating func remove(_ sequence: UInt64) -> Bool {
    let index = entries.partitioningIndex { $0.sequence >= sequence }
    guard index < entries.count, entries[index].sequence == sequence, entries[index].count > 0 else { return false }
    entries[index].count -= 1
    guard entries[index].count == 0 else { return false }
    used -= 1
    while first < entries.count, entries[first].count == 0 { first += 1 }
    if entries.count > 2 * used + 16 { closeGaps() }
    return true
  }

  mutating func newest(from lower: UInt64, below upper: UInt64) -> UInt64? {
    let index = lastUsed(entries.partitioningIndex { $0.sequence >= upper } - 1)
    return index >= 0 && entries[index].sequence >= lower ? entries[index].sequence : nil
  }

  /// The last entry that is no gap, from one on; negative if there is none.
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
