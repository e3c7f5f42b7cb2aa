import Synchronization

/// How the log is held for a backup.
extension Maintenance {
  /// Calls `body` with the log as it is now. Compaction goes on meanwhile, but nothing that `body` reads is reclaimed.
  ///
  /// - Throws: `closed`, `newerFormat`, and what `body` throws.
  func withHeldLog<R>(_ body: (HeldLog) throws(StoreError) -> R) throws(StoreError) -> R {
    let held = try holdLog()
    defer {
      log.lent.giveBack(held.segments)
      check()
    }
    return try body(held)
  }

  private func holdLog() throws(StoreError) -> HeldLog {
    // While no compaction exchanges segments, those that are known are those that the manifest lists.
    try changeIfOpen { (_) throws(StoreError) in
      let held = try committer.betweenCommits { (writer) throws(StoreError) in
        if !isReadOnly, writer.log.active == nil, writer.log.recovered.isTakenBack {
          // The state that the store was taken back to becomes its newest one.
          _ = try writer.log.currentEpoch()
        }
        let last = index.published.load(ordering: .acquiring)
        return log.manifest.withLock { manifest in HeldLog(manifest, log.segments.withLock { $0 }, last: last) }
      }
      guard held.manifest.compatibleFeatures & ~Format.knownCompatibleFeatures == 0 else {
        throw StoreError(.newerFormat, "the store has features that this version can read but not copy")
      }
      log.lent.lend(held.segments)
      return held
    }
  }
}
