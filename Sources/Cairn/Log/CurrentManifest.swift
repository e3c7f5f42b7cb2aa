import Synchronization

/// The manifest as it is on disk, or will be once the present holder of its lock is done, and the move lists beside the
/// segments that it lists.
final class CurrentManifest: Sendable {
  /// What leads from the newest checkpoint to segments that have been compacted since.
  struct MoveLists {
    /// Compacted segments with a move list, which the newest checkpoint knows only through that.
    var segments: Set<SegmentID> = []
    /// Whether anything may have been compacted since.
    var hasMoved = false
  }

  let directory: any Directory
  let moveLists: Lock<MoveLists>
  /// The next segment, which is listed and not active yet; nil if there is none.
  let prepared = Lock<PreparedSegment?>(nil)
  /// The last checkpoint begun since the opening; 0 for none.
  let capturedCheckpoint = Atomic<CheckpointID>(0)
  let durable: DurableEnd
  /// What readers of changes need to know of the manifest, without waiting while it is replaced.
  let changes: ChangeLimits
  /// Whether readers of changes have acknowledged something, or segments have been sealed, since the manifest was last
  /// replaced.
  let hasUnwritten = Atomic<Bool>(false)
  private let file: ManifestFile
  private let failure: LogFailure
  private let counts: LogCounts
  private let manifest: Lock<Manifest>

  init(
    _ manifest: Manifest, _ moveLists: MoveLists, directory: any Directory, durable: DurableEnd, failure: LogFailure,
    counts: LogCounts
  ) {
    self.directory = directory
    self.moveLists = Lock(moveLists)
    self.durable = durable
    self.failure = failure
    self.counts = counts
    file = ManifestFile(directory: directory)
    changes = ChangeLimits(manifest)
    self.manifest = Lock(manifest)
    counts.checkpointBytes.store(manifest.checkpointBytes, ordering: .relaxed)
  }

  /// Calls `body` with the manifest. What it changes is on disk with the next replacement.
  func withLock<R, E>(_ body: (inout Manifest) throws(E) -> R) throws(E) -> R { try manifest.withLock(body) }

  /// Writes to disk what has changed since the last replacement.
  func writeChanges() throws(StoreError) {
    guard hasUnwritten.load(ordering: .relaxed) else { return }
    try withLock { (manifest) throws(StoreError) in try replace(&manifest, manifest) }
  }

  /// Replaces the manifest by the next generation. `harden` makes the files that the new manifest lists durable; it is
  /// called once there is space for the manifest. A failure before that changes nothing; a later one poisons the log.
  func replace(
    _ manifest: inout Manifest, _ changed: Manifest, harden: () throws(FileError) -> Void = {}
  ) throws(StoreError) {
    var changed = changed
    changed.generation += 1
    changed.highestSequence = max(changed.highestSequence, durable.sequence)
    let written = changed.durable(upTo: changed.highestSequence)
    let staged = try StoreError.wrap { () throws(FileError) in try file.stage(written) }
    do throws(FileError) {
      try harden()
      try file.publish(staged, written)
    } catch {
      throw failure.poison(error)
    }
    manifest = changed
    changes.take(from: changed)
    hasUnwritten.store(false, ordering: .relaxed)
    counts.checkpointBytes.store(changed.checkpointBytes, ordering: .relaxed)
  }
}

extension Manifest {
  fileprivate var checkpointBytes: Int { checkpoints.reduce(0) { $0 + $1.length } }

  /// Without the keyspaces whose definitions are not durable: only the log knows of those.
  fileprivate func durable(upTo sequence: CommitSequence) -> Manifest {
    var durable = self
    durable.keyspaces.removeAll { $0.definedAt > sequence }
    return durable
  }
}
