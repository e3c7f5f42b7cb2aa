import Synchronization

/// The sequences at which somebody is reading.
final class SnapshotRegistry: Sendable {
  private let pinned = Lock<[(sequence: UInt64, count: Int)]>([])
  private let total = Atomic<Int>(0)

  /// Pins the newest published sequence.
  func register(_ published: borrowing Atomic<UInt64>) -> UInt64 {
    // Counted before the sequence is read: a writer that finds nobody counted has published before.
    total.add(1, ordering: .sequentiallyConsistent)
    return pinned.withLock { pinned in
      let sequence = published.load(ordering: .sequentiallyConsistent)
      if let last = pinned.indices.last, pinned[last].sequence == sequence {
        pinned[last].count += 1
      } else {
        pinned.append((sequence, 1))
      }
      return sequence
    }
  }

  /// True if it was the last snapshot of this sequence.
  func release(_ sequence: UInt64) -> Bool {
    defer { total.subtract(1, ordering: .sequentiallyConsistent) }
    return pinned.withLock { pinned in
      guard let index = pinned.firstIndex(where: { $0.sequence == sequence }) else { return false }
      pinned[index].count -= 1
      guard pinned[index].count == 0 else { return false }
      pinned.remove(at: index)
      return true
    }
  }

  var isEmpty: Bool { total.load(ordering: .sequentiallyConsistent) == 0 }

  /// The oldest snapshot there is.
  var oldest: UInt64? { pinned.withLock { $0.first?.sequence } }

  /// The newest snapshot in `lower..<upper`.
  func newest(from lower: UInt64, below upper: UInt64) -> UInt64? {
    pinned.withLock { pinned in
      pinned.last { $0.sequence < upper }.flatMap { $0.sequence >= lower ? $0.sequence : nil }
    }
  }
}
