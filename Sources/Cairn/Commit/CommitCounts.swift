import Synchronization

/// Counts since the store was opened, which the committer keeps and any thread may read.
final class CommitCounts: Sendable {
  let commits = Atomic<Int>(0)
  /// Bytes of records that only snapshots needed and that none needs any more.
  let releasedBytes = Atomic<Int>(0)
  /// Bytes of values as they were given and as they are stored.
  let rawBytes = Atomic<Int>(0)
  let storedBytes = Atomic<Int>(0)
  /// Whether enough values have been put into some keyspace to try training a dictionary.
  let isTrainingDue = Atomic<Bool>(false)
  /// Whether dropped keyspaces still have their memory.
  let hasDropped = Atomic<Bool>(false)
}
