import Synchronization

/// Changes how many older versions of each row are retained; without a commit if the number stays the same.
struct RetentionChange: Commit {
  let keyspace: KeyspaceIndex
  let oldVersions: UInt32

  func prepare(_ writer: inout Writer) throws(StoreError) -> FrameNeeds? {
    try writer.requireExisting(keyspace)
    guard oldVersions != keyspace.oldVersions.load(ordering: .relaxed) else { return nil }
    // The manifest must name the feature before the log contains the record, so that a reader that does not know the
    // feature refuses the store.
    try writer.log.use(Format.retention)
    return FrameNeeds(bound: FrameHeader.size + 2 * RecordHeader.maximumLength + keyspace.name.utf8.count)
  }

  func write(_ sequence: CommitSequence, _ writer: inout Writer) throws(StoreError) {
    try writer.define(keyspace, sequence)
    writer.log.shared.manifest.note(keyspace.id, oldVersions: oldVersions)
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    _ = try unsafe withUnsafeBytes(of: oldVersions.littleEndian) { (value) throws(StoreError) in
      try unsafe writer.assembly.add(
        .retention, keyspace: keyspace.id, key: none, value: value, compressedFrom: nil, version: 0)
    }
  }

  func apply(_ sequence: CommitSequence, _ writer: inout Writer) {
    keyspace.oldVersions.store(oldVersions, ordering: .relaxed)
    keyspace.retainedSince.store(sequence, ordering: .relaxed)
    var rows: Set<RowHash> = []
    for version in writer.retainedVersions(of: keyspace) where rows.insert(version.hash).inserted {
      writer.expire(keyspace, version.hash, keeping: Int(oldVersions), at: sequence)
    }
  }

  func finish(_ sequence: CommitSequence, _ writer: inout Writer) { writer.dropExpired() }
}
