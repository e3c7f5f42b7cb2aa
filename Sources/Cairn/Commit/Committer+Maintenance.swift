import Synchronization

/// What checkpoints, compaction and snapshots do between two commits.
extension Committer {
  // MARK: Checkpoints

  /// Returns the state of the log and of all counts at one sequence, which is held like a snapshot until `endCapture`;
  /// nil while the log is empty. From then on new rows are noted in `index.newRows`.
  func beginCapture(id: CheckpointID) -> (tables: CheckpointTables, keyspaces: [KeyspaceIndex], covered: Int)? {
    betweenCommits { writer in
      guard let place = writer.log.end else { return nil }
      index.newRows.begin()
      var tables = CheckpointTables(
        features: log.manifest.features, store: log.store, hashSeed: index.hash.seed, id: id,
        sequence: index.snapshots.register { index.published.load(ordering: .sequentiallyConsistent) },
        place: place, extentShift: index.table.extentShift, extentCount: index.table.extentCount)
      tables.segments = log.segments.withLock { $0 }.map { segment in
        CheckpointTables.Segment(
          id: segment.id, epoch: segment.epoch, extent: segment.extent, end: segment.end.load(ordering: .relaxed),
          lastSequence: segment.lastSequence.load(ordering: .relaxed),
          tombstones: segment.tombstoneBytes.load(ordering: .relaxed))
      }
      let keyspaces = index.allKeyspaces.filter { $0.definedAt.load(ordering: .relaxed) > 0 }
      tables.keyspaces = keyspaces.map { keyspace in
        CheckpointTables.Keyspace(
          id: keyspace.id, rows: keyspace.rowCount.load(ordering: .relaxed), root: 0, directory: [],
          live: keyspace.live.byExtent.map { CheckpointTables.Live(extent: $0.extent, bytes: $0.bytes) },
          oldVersions: keyspace.oldVersions.load(ordering: .relaxed),
          retainedSince: keyspace.retainedSince.load(ordering: .relaxed))
      }
      tables.dictionaries = index.dictionaries.all.compactMap { dictionary in
        guard let keyspace = keyspaces.element(dictionary.keyspace),
          case let segments = log.segmentsUsing(dictionary: dictionary.id),
          keyspace.mayUse(dictionary: dictionary.id) || !segments.isEmpty
        else { return nil }
        return CheckpointTables.Dictionary(
          id: dictionary.id, keyspace: dictionary.keyspace, content: unsafe Array(dictionary.content.bytes),
          segments: segments)
      }
      return (tables, keyspaces, log.counts.writtenBytes)
    }
  }

  func endCapture(_ sequence: CommitSequence) {
    index.newRows.end()
    release(sequence)
  }

  // MARK: Compaction

  /// Returns the keyspaces whose rows somebody may see, dropped ones included. Their memory is kept until
  /// `endCompaction`.
  func beginCompaction() -> [KeyspaceIndex] {
    betweenCommits { writer in
      writer.isCompacting = true
      return index.allKeyspaces + writer.droppedKeyspaces
    }
  }

  func endCompaction() {
    betweenCommits { writer in
      writer.isCompacting = false
      writer.clearDropped()
    }
  }

  // MARK: The end of the log

  /// Activates the next segment, so that the present one can be compacted.
  func sealActive() throws(StoreError) {
    guard betweenCommits({ $0.log.filled }) != nil else { return }
    try log.reserve.lend(to: .compaction, log.prepareNow)
    guard try betweenCommits({ (writer) throws(StoreError) in try writer.log.rollIfFilled() }) else { return }
    sealFull()
    log.environment.scheduler.schedule { [log] in log.prepare() }
  }

  /// Seals the segments before the active one that the background work has not sealed yet.
  func sealFull() {
    guard let active = betweenCommits({ $0.log.active }) else { return }
    log.sealSegments(before: active)
  }

  // MARK: Snapshots

  /// Ends a snapshot. What only it needed is dropped now or, if a commit is in progress, at the end of that commit.
  func release(_ snapshot: CommitSequence) {
    guard index.snapshots.release(snapshot), index.versions.count > 0 || counts.hasDropped.load(ordering: .relaxed)
    else {
      return
    }
    ended.withLock { $0.append(snapshot) }
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    dropEndedSnapshots()
  }

  func dropEndedSnapshots() {
    while hasEnded.load(ordering: .sequentiallyConsistent) {
      let dropped: Void? = writer.withLockIfAvailable { writer in
        hasEnded.store(false, ordering: .sequentiallyConsistent)
        let snapshots = ended.withLock { ended in
          defer { ended.removeAll() }
          return ended
        }
        for snapshot in snapshots {
          for version in writer.pinned.removeValue(forKey: snapshot) ?? [] {
            writer.drop(version.hash, version.sequence, mayBeNeeded: true, wasPinned: true)
          }
        }
        writer.clearDropped()
      }
      // The holder of the lock checks `hasEnded` when it is done.
      if dropped == nil { return }
    }
  }
}
