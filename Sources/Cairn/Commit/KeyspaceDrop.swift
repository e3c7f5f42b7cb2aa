import Synchronization

/// Drops a keyspace with all its rows, by one record; without a commit if nothing was ever written to it.
struct KeyspaceDrop: Commit {
  let keyspace: KeyspaceIndex

  func prepare(_ writer: inout Writer) throws(StoreError) -> FrameNeeds? {
    try writer.requireExisting(keyspace)
    guard keyspace.definedAt.load(ordering: .relaxed) > 0 else {
      let sequence = writer.index.published.load(ordering: .relaxed)
      remove(sequence, &writer)
      finish(sequence, &writer)
      return nil
    }
    return FrameNeeds(
      bound: FrameHeader.size + RecordHeader.maximumLength + Format.padded(keyspace.name.utf8.count), effect: .frees)
  }

  func write(_ sequence: CommitSequence, _ writer: inout Writer) throws(StoreError) {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    try unsafe Array(keyspace.name.utf8).withRawBytes { (name) throws(StoreError) in
      _ = try unsafe writer.assembly.add(
        .keyspaceDropped, keyspace: keyspace.id, key: name, value: none, compressedFrom: nil, version: 0)
    }
  }

  func apply(_ sequence: CommitSequence, _ writer: inout Writer) {
    // Before the removal: who misses the keyspace in the index seeks its name in the manifest.
    writer.log.shared.manifest.note(keyspace.id, droppedAt: sequence)
    remove(sequence, &writer)
    for (extent, bytes) in keyspace.live.byExtent {
      writer.log.segment(extent: extent).liveBytes.subtract(bytes, ordering: .relaxed)
    }
  }

  func finish(_ sequence: CommitSequence, _ writer: inout Writer) { writer.clear(keyspace) }

  private func remove(_ sequence: CommitSequence, _ writer: inout Writer) {
    keyspace.droppedAt.store(sequence, ordering: .releasing)
    writer.index.remove(keyspace)
  }
}
