extension Store {
  /// Makes a store with an identity of its own from a backup, or from any other store, as it was after one of its
  /// commits.
  ///
  /// The new store has the log of the other one up to that commit: its rows with their versions and sequences, its
  /// older versions, and the commits that have not been compacted. Every record is read and verified. The new store
  /// does not exist before it is complete and durable: its manifest is written last. A process may write to the other
  /// store meanwhile.
  ///
  /// Takes as long as opening the other store, reading its log, and writing that; memory for its index meanwhile, and
  /// for the longest of its commits.
  ///
  /// - Parameters:
  ///   - source: the directory of a backup, or of a store.
  ///   - path: a directory that is missing or empty. If it is missing it is created, for the owner of this process
  ///     only.
  ///   - commit: the commit, or one after it and before the next; nil for the newest. Compaction removes what a commit
  ///     needs alone: there is no going back to before it.
  ///   - progress: called on the calling thread after each MiB; if it returns false, restoring ends with `cancelled`.
  /// - Returns: what the new store contains.
  /// - Throws: `alreadyExists` if the directory is not empty; `commitNotFound` if the log does not have the commit;
  ///   `corrupted` with the place of the damage; `notFound`, `notAStore`, `damaged`, `newerFormat`, `locked`,
  ///   `noSpace`, `noPermission`, `noDescriptors`, `noMemory`, `inputOutput`, `cancelled`. There is no new store after
  ///   any of them, and nothing in the directory unless the process ends.
  @discardableResult
  public static func restore(
    from source: String, to path: String, at commit: CommitSequence? = nil,
    progress: ((BackupProgress) -> Bool)? = nil
  ) throws(StoreError) -> RestoreReport {
    try restore(from: source, to: path, at: commit, progress: progress, environment: .system)
  }

  @discardableResult
  package static func restore(
    from source: String, to path: String, at commit: CommitSequence? = nil,
    progress: ((BackupProgress) -> Bool)? = nil, environment: Environment
  ) throws(StoreError) -> RestoreReport {
    var options = StoreOptions()
    options.access = .readOnly
    options.upTo = commit
    let store = try open(at: source, options: options, environment: environment)
    defer { store.closeAfterReading() }
    if let commit { try store.checkReached(commit) }
    let target = try TargetDirectory(at: path, environment.files) { (_, names) throws(StoreError) in
      guard names.allSatisfy({ $0 == LockOwner.fileName }) else {
        throw StoreError(.alreadyExists, "the directory \(path) is not empty")
      }
    }
    return try target.use { (discard) throws(StoreError) in
      try store.maintenance.withHeldLog { (held) throws(StoreError) in
        let restoration = Restoration(of: held, to: target.directory, random: environment.random)
        return try restoration.run(progress, discard: discard)
      }
    }
  }

  /// Throws if the log ends before a commit that it was to be read up to.
  private func checkReached(_ commit: CommitSequence) throws(StoreError) {
    let isCut = committer.betweenCommits { $0.log.recovered.isTakenBack }
    guard lastSequence > 0, lastSequence == commit || isCut else {
      throw StoreError(.commitNotFound, "there is no commit \(commit); the newest is \(lastSequence)")
    }
  }

  private func closeAfterReading() { do throws(StoreError) { try close() } catch {} }
}
