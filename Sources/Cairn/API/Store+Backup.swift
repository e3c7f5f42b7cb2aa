extension Store {
  /// Makes a backup of the store in a directory while the store is written to, or brings the backup that is there up to
  /// date.
  ///
  /// The backup contains all commits that have been made when the call begins, and maybe some later ones; they are
  /// durable by then. Files that no longer change are shared with the store by hard links where the file system can do
  /// that, so that a backup on the same device takes hardly any time or space; all others are copied. A later backup in
  /// the same directory copies only what is new. Whenever the process or the machine stops, the directory has the
  /// earlier backup or the new one, or no backup if there was none.
  ///
  /// A backup can be opened for reading like any store, and ``restore(from:to:at:progress:)`` makes a store of it. It
  /// cannot be opened for writing. It has no checkpoints, so opening it reads the whole log. Whoever has a backup open
  /// reads on as before when a newer one takes its place, and `refresh()` then throws `replaced`.
  ///
  /// Takes as long as writing the bytes to be copied and syncing each file. Writers wait for some microseconds for each
  /// segment, and for a replacement of the manifest that may be in progress. Space that compaction frees meanwhile
  /// counts as ``StoreStatistics/retiredBytes`` until the backup has ended. A store that was opened for reading can be
  /// backed up, too, beside the process that writes to it; the backup then contains what this store has read, which may
  /// not be durable in the original.
  ///
  /// - Parameters:
  ///   - path: a directory that is missing or empty, or has an earlier backup of this store. If it is missing it is
  ///     created, for the owner of this process only.
  ///   - linksFiles: whether files may be shared by hard links. A shared file is stored once, so damage of the disk
  ///     affects the store and the backup.
  ///   - progress: called on the calling thread after each MiB that has been copied; if it returns false, the backup
  ///     ends with `cancelled`.
  /// - Returns: what has been done.
  /// - Throws: `alreadyExists` if the directory has anything but an earlier backup of this store; `locked` if another
  ///   backup is being made in it; `noSpace`, `noPermission`, `noDescriptors`, `inputOutput`, `cancelled`, after which
  ///   the earlier backup is as it was, and nothing is left of a first one; `poisoned` if the commits cannot be made
  ///   durable; `closed`, `newerFormat`, `damaged`; `invalidArgument` if the store was opened for reading up to a
  ///   commit.
  @discardableResult
  public func backup(
    to path: String, linksFiles: Bool = true, progress: ((BackupProgress) -> Bool)? = nil
  ) throws(StoreError) -> BackupReport {
    try index.checkProcess()
    guard !isReadOnly || options.upTo == nil else {
      throw StoreError(
        .invalidArgument, "a store that was opened up to a commit is not backed up; restore it at that commit instead")
    }
    var found: PreviousBackup?
    let target = try TargetDirectory(at: path, environment.files) { (directory, names) throws(StoreError) in
      found = try PreviousBackup(in: directory, names, of: log.store)
    }
    guard let previous = found else { fatalError("the directory has not been inspected") }
    // The log is held when nobody else can make a backup there any more, so that no older state takes the place of a
    // newer one.
    return try target.use { (discard) throws(StoreError) in
      try maintenance.withHeldLog { (held) throws(StoreError) in
        try previous.check(isBefore: held.manifest, at: path)
        let backup = Backup(of: held, from: log.directory, to: target.directory, previous, linksFiles: linksFiles)
        return try backup.run(progress, discard: discard) { () throws(StoreError) in
          // A reader cannot sync the files of the writer.
          if !isReadOnly { try log.syncs.sync(upTo: held.lastSequence, through: held.growingEnd) }
        }
      }
    }
  }
}
