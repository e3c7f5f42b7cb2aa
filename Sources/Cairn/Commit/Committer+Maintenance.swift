import Synchronization

/// What checkpoints, compaction and snapshots do between two commits.
extension Committer {
  // MARK: Checkpoints

  /// Returns the state of the log and of all counts at one sequence, which is held like a snapshot until `endCapture`;
  /// nil while the log is empty. From then on new rows are noted in `index.newRows`.
  func beginCapture(id: CheckpointID) -> (tables: CheckpointTables, keyspaces: [KeyspaceIndex], covered: Int)? {
    betweenCommits {
      guard let place = log.end else { return nil }
      index.newRows.begin()
      var tables = CheckpointTables(
        features: log.manifest.withLock { $0.features }, store: log.store, hashSeed: index.hash.seed, id: id,
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
      return (tables, keyspaces, log.writtenBytes)
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
    betweenCommits {
      isCompacting = true
      return index.allKeyspaces + droppedKeyspaces
    }
  }

  func endCompaction() {
    betweenCommits {
      isCompacting = false
      clearDropped()
    }
  }

  /// A record in the log: its address, and its length in bytes.
  struct Span {
    var address: LogAddress
    var length: Int
  }

  /// Redirects a row's slot, or an older version of the row, from a record to its copy. Returns false if neither refers
  /// to the record any more because of a commit made meanwhile; then the copy is dead. To be called between two
  /// commits.
  func move(_ keyspace: KeyspaceIndex, _ hash: RowHash, from old: Span, to new: Span, isPut: Bool) -> Bool {
    let source = log.segment(old.address)
    let target = log.segment(new.address)
    let isKept: Bool
    if let slot = unsafe keyspace.locator.index.find(hash, { $0 == old.address }) {
      unsafe keyspace.locator.index.replace(slot, new.address)
      guard isPut || index.versions.keptCount(hash) > 0 else {
        hold(keyspace, old.address, -old.length)
        hold(keyspace, new.address, new.length)
        return true
      }
      isKept = true
    } else if let moved = index.versions.move(
      hash, from: old.address, to: new.address, units: UInt32(new.length / Format.unit))
    {
      isKept = moved.isKept
    } else {
      return false
    }
    let isDropped = keyspace.droppedAt.load(ordering: .relaxed) != .max
    if isKept {
      keyspace.live.add(-old.length, extent: source.extent)
      keyspace.live.add(new.length, extent: target.extent)
    }
    source.count(-old.length, isPinned: !isKept || isDropped)
    target.count(new.length, isPinned: !isKept || isDropped)
    if !isPut { target.tombstoneBytes.subtract(new.length, ordering: .relaxed) }
    return true
  }

  // MARK: Snapshots

  /// Ends a snapshot. What only it needed is dropped now or, if a commit is in progress, at the end of that commit.
  func release(_ snapshot: CommitSequence) {
    guard index.snapshots.release(snapshot), index.versions.count > 0 || hasDropped.load(ordering: .relaxed) else {
      return
    }
    ended.withLock { $0.append(snapshot) }
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    dropEndedSnapshots()
  }

  func dropEndedSnapshots() {
    while hasEnded.load(ordering: .sequentiallyConsistent) {
      let dropped: Void? = lock.withLockIfAvailable { _ in
        hasEnded.store(false, ordering: .sequentiallyConsistent)
        let snapshots = ended.withLock { ended in
          defer { ended.removeAll() }
          return ended
        }
        for snapshot in snapshots {
          for version in pinned.removeValue(forKey: snapshot) ?? [] {
            drop(version.hash, version.sequence, mayBeNeeded: true, wasPinned: true)
          }
        }
        clearDropped()
      }
      // The holder of the lock checks `hasEnded` when it is done.
      if dropped == nil { return }
    }
  }
}
