import Synchronization

/// Commits of one record: adopting a dictionary, dropping a keyspace, changing how many versions are retained.
extension Committer {
  // MARK: Dictionaries

  @inline(__always)
  func note(put bytes: Int, _ keyspace: KeyspaceIndex) {
    let sum = keyspace.putBytes.load(ordering: .relaxed) &+ bytes
    keyspace.putBytes.store(sum, ordering: .relaxed)
    if sum >= keyspace.nextTraining.load(ordering: .relaxed) { isTrainingDue.store(true, ordering: .relaxed) }
  }

  /// Makes a dictionary the one that a keyspace's new values are compressed with, by a commit of one record. `stored`
  /// is its content as an LZ4 block; nil to store it uncompressed.
  func adopt(_ content: [UInt8], stored: [UInt8]?, for keyspace: KeyspaceIndex) throws(StoreError) {
    try betweenCommits { () throws(StoreError) in
      guard !isClosed.load(ordering: .relaxed) else { throw StoreError(.closed, "the store is closed") }
      try log.checkHealth()
      guard keyspace.droppedAt.load(ordering: .relaxed) == .max, keyspace.definedAt.load(ordering: .relaxed) > 0,
        let id = index.dictionaries.nextID
      else { return }
      let value = stored ?? content
      let key = unsafe withUnsafeBytes(of: id.rawValue.littleEndian) { unsafe Array($0) }
      let sequence = try unsafe assembly.begin(
        bound: FrameHeader.size + RecordHeader.maximumLength + key.count + value.count)
      try unsafe key.withRawBytes { (key) throws(StoreError) in
        try unsafe value.withRawBytes { (value) throws(StoreError) in
          _ = try unsafe assembly.add(
            .dictionary, keyspace: keyspace.id, key: key, value: value,
            compressedFrom: stored == nil ? nil : content.count, version: 0)
        }
      }
      try unsafe assembly.finish(isSynced: false)
      index.applying.store(sequence, ordering: .sequentiallyConsistent)
      index.published.store(sequence, ordering: .sequentiallyConsistent)
      commitCount.add(1, ordering: .relaxed)
      let dictionary = StoredDictionary(id: id, keyspace: keyspace.id, content: content)
      index.dictionaries.add(dictionary)
      unsafe keyspace.dictionary.store(Unmanaged.passUnretained(dictionary), ordering: .releasing)
    }
  }

  // MARK: Keyspaces

  static func dropped(_ keyspace: KeyspaceIndex) -> StoreError {
    StoreError(.keyspaceDropped, "keyspace \(keyspace.name) has been dropped")
  }

  /// Drops a keyspace with all its rows, by a commit of one record; without a commit if nothing was ever written to it.
  func drop(_ keyspace: KeyspaceIndex, _ durability: Durability) throws(StoreError) -> CommitSequence {
    let sequence = try betweenCommits { () throws(StoreError) in
      guard !isClosed.load(ordering: .relaxed) else { throw StoreError(.closed, "the store is closed") }
      try log.checkHealth()
      guard keyspace.droppedAt.load(ordering: .relaxed) == .max else { throw Self.dropped(keyspace) }
      return try dropLocked(keyspace, isSynced: durability == .durable)
    }
    if durability == .durable { try log.sync(upTo: sequence) }
    return sequence
  }

  private func dropLocked(_ keyspace: KeyspaceIndex, isSynced: Bool) throws(StoreError) -> CommitSequence {
    guard keyspace.definedAt.load(ordering: .relaxed) > 0 else {
      let sequence = index.published.load(ordering: .relaxed)
      keyspace.droppedAt.store(sequence, ordering: .releasing)
      index.remove(keyspace)
      clear(keyspace)
      return sequence
    }
    let sequence = try unsafe assembly.begin(bound: FrameHeader.size + RecordHeader.maximumLength, effect: .frees)
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    _ = try unsafe assembly.add(
      .keyspaceDropped, keyspace: keyspace.id, key: none, value: none, compressedFrom: nil, version: 0)
    try unsafe assembly.finish(isSynced: isSynced)
    keyspace.droppedAt.store(sequence, ordering: .releasing)
    index.remove(keyspace)
    log.forget(keyspace.id, droppedAt: sequence)
    for (extent, bytes) in keyspace.live.byExtent {
      log.segment(extent: extent).liveBytes.subtract(bytes, ordering: .relaxed)
    }
    index.applying.store(sequence, ordering: .sequentiallyConsistent)
    index.published.store(sequence, ordering: .sequentiallyConsistent)
    commitCount.add(1, ordering: .relaxed)
    clear(keyspace)
    return sequence
  }

  /// Changes how many older versions of each row are retained, by a commit of its own; without a commit if the
  /// number stays the same.
  func retain(
    _ keyspace: KeyspaceIndex, oldVersions: UInt32, _ durability: Durability
  ) throws(StoreError) -> CommitSequence {
    let sequence = try betweenCommits { () throws(StoreError) in
      guard !isClosed.load(ordering: .relaxed) else { throw StoreError(.closed, "the store is closed") }
      try log.checkHealth()
      guard keyspace.droppedAt.load(ordering: .relaxed) == .max else { throw Self.dropped(keyspace) }
      guard oldVersions != keyspace.oldVersions.load(ordering: .relaxed) else {
        return index.published.load(ordering: .relaxed)
      }
      return try retainLocked(keyspace, oldVersions, isSynced: durability == .durable)
    }
    if durability == .durable { try log.sync(upTo: sequence) }
    return sequence
  }

  private func retainLocked(
    _ keyspace: KeyspaceIndex, _ oldVersions: UInt32, isSynced: Bool
  ) throws(StoreError) -> CommitSequence {
    // The manifest must name the feature before the log contains the record, so that a reader that does not know the
    // feature refuses the store.
    try log.use(Format.retention)
    let sequence = try unsafe assembly.begin(
      bound: FrameHeader.size + 2 * RecordHeader.maximumLength + keyspace.name.utf8.count)
    try define(keyspace, sequence)
    log.note(keyspace.id, oldVersions: oldVersions)
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    _ = try unsafe withUnsafeBytes(of: oldVersions.littleEndian) { (value) throws(StoreError) in
      try unsafe assembly.add(
        .retention, keyspace: keyspace.id, key: none, value: value, compressedFrom: nil, version: 0)
    }
    try unsafe assembly.finish(isSynced: isSynced)
    keyspace.oldVersions.store(oldVersions, ordering: .relaxed)
    keyspace.retainedSince.store(sequence, ordering: .relaxed)
    index.applying.store(sequence, ordering: .sequentiallyConsistent)
    var rows: Set<RowHash> = []
    let versions = index.versions.versions { version, expiredBy in
      version.keyspace == keyspace.id && expiredBy == VersionTable.kept
    }
    for version in versions where rows.insert(version.hash).inserted {
      expire(keyspace, version.hash, keeping: Int(oldVersions), at: sequence)
    }
    index.published.store(sequence, ordering: .sequentiallyConsistent)
    commitCount.add(1, ordering: .relaxed)
    dropExpired()
    return sequence
  }

  private func clear(_ keyspace: KeyspaceIndex) {
    droppedKeyspaces.append(keyspace)
    pin(keyspace, 1)
    hasDropped.store(true, ordering: .relaxed)
    clearDropped()
  }

  /// Releases the memory of dropped keyspaces that no snapshot sees any more. A reader of the latest state pins the
  /// era before it checks whether the keyspace exists, so it can finish.
  func clearDropped() {
    guard !isCompacting else { return }
    // The keyspaces are in the order in which they were dropped.
    let unseen = droppedKeyspaces.prefix { keyspace in
      index.snapshots.oldest.map { !keyspace.exists(at: $0) } ?? true
    }
    guard !unseen.isEmpty else { return }
    for keyspace in unseen {
      pin(keyspace, -1)
      releaseTombstones(of: keyspace)
      keyspace.clear()
      if keyspace.retainedSince.load(ordering: .relaxed) > 0 { removeKept(of: keyspace) }
    }
    droppedKeyspaces.removeFirst(unseen.count)
    hasDropped.store(!droppedKeyspaces.isEmpty, ordering: .relaxed)
  }

  private func removeKept(of keyspace: KeyspaceIndex) {
    let kept = index.versions.versions { version, expiredBy in
      version.keyspace == keyspace.id && expiredBy == VersionTable.kept
    }
    for version in kept { _ = index.versions.remove(version.hash, sequence: version.sequence) }
  }
}
