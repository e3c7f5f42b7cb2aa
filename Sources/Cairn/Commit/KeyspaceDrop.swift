import Synchronization

/// Drops a keyspace with all its rows, by one record; without a commit if nothing was ever written to it.
struct KeyspaceDrop: Commit {
  let keyspace: KeyspaceIndex

  func prepare(_ committer: Committer) throws(StoreError) -> FrameNeeds? {
    try committer.requireExisting(keyspace)
    guard keyspace.definedAt.load(ordering: .relaxed) > 0 else {
      let sequence = committer.index.published.load(ordering: .relaxed)
      remove(sequence, committer)
      finish(sequence, committer)
      return nil
    }
    return FrameNeeds(bound: FrameHeader.size + RecordHeader.maximumLength, effect: .frees)
  }

  func write(_ sequence: CommitSequence, _ committer: Committer) throws(StoreError) {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    _ = try unsafe committer.assembly.add(
      .keyspaceDropped, keyspace: keyspace.id, key: none, value: none, compressedFrom: nil, version: 0)
  }

  func apply(_ sequence: CommitSequence, _ committer: Committer) {
    remove(sequence, committer)
    committer.log.forget(keyspace.id, droppedAt: sequence)
    for (extent, bytes) in keyspace.live.byExtent {
      committer.log.segment(extent: extent).liveBytes.subtract(bytes, ordering: .relaxed)
    }
  }

  func finish(_ sequence: CommitSequence, _ committer: Committer) { committer.clear(keyspace) }

  private func remove(_ sequence: CommitSequence, _ committer: Committer) {
    keyspace.droppedAt.store(sequence, ordering: .releasing)
    committer.index.remove(keyspace)
  }
}
