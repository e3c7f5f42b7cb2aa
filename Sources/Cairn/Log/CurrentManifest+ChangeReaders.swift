import Synchronization

/// Which deletions the log may lack, and for which readers of changes it keeps them.
extension CurrentManifest {
  /// Each replacement of the manifest writes all of them.
  static let mostChangeReaders = 100

  /// Adds a reader, durably, or replaces the one of its name. Throws `positionExpired` if the log may lack deletions
  /// after the commit that it knows, `invalidArgument` if there are too many.
  func enter(_ reader: Manifest.ChangeReader) throws(StoreError) {
    try withLock { (manifest) throws(StoreError) in
      guard reader.sequence >= manifest.forgottenSequence else { throw StoreError.positionExpired(reader.sequence) }
      var changed = manifest
      changed.changeReaders.removeAll { $0.name == reader.name }
      guard changed.changeReaders.count < Self.mostChangeReaders else {
        throw StoreError(.invalidArgument, "there are \(Self.mostChangeReaders) readers of changes already")
      }
      let position = changed.changeReaders.partitioningIndex {
        reader.name.utf8.lexicographicallyPrecedes($0.name.utf8)
      }
      changed.changeReaders.insert(reader, at: position)
      try replace(&manifest, changed)
    }
  }

  /// Removes the reader of a name, durably; false if there is none.
  func removeChangeReader(_ name: String) throws(StoreError) -> Bool {
    try withLock { (manifest) throws(StoreError) in
      guard manifest.changeReaders.contains(where: { $0.name == name }) else { return false }
      var changed = manifest
      changed.changeReaders.removeAll { $0.name == name }
      try replace(&manifest, changed)
      return true
    }
  }

  /// Notes that a reader knows all changes up to a commit, if deletions are kept for it. On disk with the next
  /// replacement of the manifest, at the latest when the store is closed: until then, more is kept for the reader than
  /// it needs. Returns the reader as it is, or as it is to be entered again; nil if there is none.
  func acknowledge(_ sequence: CommitSequence, by name: String, at time: UInt64) -> Manifest.ChangeReader? {
    withLock { manifest in
      guard let index = manifest.changeReaders.firstIndex(where: { $0.name == name }) else { return nil }
      var reader = manifest.changeReaders[index]
      reader.heard = time
      reader.sequence = max(reader.sequence, sequence)
      guard reader.isHeld else { return reader }
      manifest.changeReaders[index] = reader
      hasUnwritten.store(true, ordering: .relaxed)
      changes.take(from: manifest)
      return reader
    }
  }

  /// Keeps nothing any more for readers that are too far behind, and returns their names. `tombstoneBytes` returns the
  /// bytes of the tombstones in segments with records after a commit.
  func releaseLateReaders(
    at time: UInt64, newest: CommitSequence, tombstoneBytes: (CommitSequence) -> Int
  ) -> [String] {
    withLock { manifest in
      var late: [String] = []
      for index in manifest.changeReaders.indices where manifest.changeReaders[index].isHeld {
        let reader = manifest.changeReaders[index]
        // A reader with nothing to read does not fall behind.
        if reader.sequence >= newest {
          manifest.changeReaders[index].heard = time
        } else {
          let silence = time - min(time, reader.heard)
          guard silence > reader.longestTime || tombstoneBytes(reader.sequence) > reader.mostBytes else { continue }
          manifest.changeReaders[index].isHeld = false
          late.append(reader.name)
        }
      }
      changes.take(from: manifest)
      return late
    }
  }
}

extension Log {
  /// Bytes of a segment's tombstones that stay for readers of changes.
  func heldTombstoneBytes(of segment: Segment) -> Int {
    let held = manifest.changes.held.load(ordering: .relaxed)
    return segment.lastSequence.load(ordering: .relaxed) > held ? segment.looseTombstoneBytes : 0
  }

  /// Bytes of the tombstones in segments that have records after a commit.
  func tombstoneBytes(after sequence: CommitSequence) -> Int {
    segments.withLock { $0 }.reduce(0) { sum, segment in
      segment.lastSequence.load(ordering: .relaxed) > sequence ? sum + segment.looseTombstoneBytes : sum
    }
  }

  /// Keeps nothing any more for readers of changes that are too far behind.
  func releaseLateReaders() {
    guard manifest.changes.held.load(ordering: .relaxed) < .max else { return }
    let late = manifest.releaseLateReaders(
      at: environment.clock(), newest: syncs.durable.sequence, tombstoneBytes: tombstoneBytes(after:))
    for name in late { telemetry.post(.changeReaderTooFarBehind(name)) }
  }
}

extension StoreError {
  static func positionExpired(_ sequence: CommitSequence) -> StoreError {
    StoreError(
      .positionExpired,
      "rows may have been deleted after commit \(sequence) without a trace in the log; start again from a snapshot")
  }
}
