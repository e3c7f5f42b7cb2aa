import Synchronization

/// Changes how many older versions of each row are retained; without a commit if the number stays the same.
struct RetentionChange: Commit {
  let keyspace: KeyspaceIndex
  let oldVersions: UInt32

  func prepare(_ committer: Committer) throws(StoreError) -> FrameNeeds? {
    try committer.requireExisting(keyspace)
    guard oldVersions != keyspace.oldVersions.load(ordering: .relaxed) else { return nil }
    // The manifest must name the feature before the log contains the record, so that a reader that does not know the
    // feature refuses the store.
    try committer.log.use(Format.retention)
    return FrameNeeds(bound: FrameHeader.size + 2 * RecordHeader.maximumLength + keyspace.name.utf8.count)
  }

  func write(_ sequence: CommitSequence, _ committer: Committer) throws(StoreError) {
    try committer.define(keyspace, sequence)
    committer.log.note(keyspace.id, oldVersions: oldVersions)
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    _ = try unsafe withUnsafeBytes(of: oldVersions.littleEndian) { (value) throws(StoreError) in
      try unsafe committer.assembly.add(
        .retention, keyspace: keyspace.id, key: none, value: value, compressedFrom: nil, version: 0)
    }
  }

  func apply(_ sequence: CommitSequence, _ committer: Committer) {
    keyspace.oldVersions.store(oldVersions, ordering: .relaxed)
    keyspace.retainedSince.store(sequence, ordering: .relaxed)
    var rows: Set<RowHash> = []
    for version in committer.retainedVersions(of: keyspace) where rows.insert(version.hash).inserted {
      committer.expire(keyspace, version.hash, keeping: Int(oldVersions), at: sequence)
    }
  }

  func finish(_ sequence: CommitSequence, _ committer: Committer) { committer.dropExpired() }
}
