import Synchronization

/// What readers of changes need to know of the manifest: a copy that nobody has to wait for.
final class ChangeLimits: Sendable {
  /// The log may lack deletions at or before this commit, and has all later ones.
  let forgotten: Atomic<CommitSequence>
  /// The log keeps deletions after this commit; `.max` if it keeps none.
  let held: Atomic<CommitSequence>
  /// How often the store has been taken back to an earlier commit.
  let timeline: Atomic<UInt64>
  let readers: Lock<[Manifest.ChangeReader]>

  init(_ manifest: Manifest) {
    forgotten = Atomic(manifest.forgottenSequence)
    held = Atomic(manifest.heldSequence)
    timeline = Atomic(manifest.timeline)
    readers = Lock(manifest.changeReaders)
  }

  /// Called by the holder of the manifest's lock.
  func take(from manifest: Manifest) {
    forgotten.store(manifest.forgottenSequence, ordering: .sequentiallyConsistent)
    held.store(manifest.heldSequence, ordering: .sequentiallyConsistent)
    timeline.store(manifest.timeline, ordering: .sequentiallyConsistent)
    readers.withLock { $0 = manifest.changeReaders }
  }
}

extension Manifest {
  /// The log keeps deletions after this commit; `.max` if there is no reader of changes for whom it keeps any.
  fileprivate var heldSequence: CommitSequence {
    changeReaders.lazy.filter(\.isHeld).map(\.sequence).min() ?? .max
  }
}
