/// Features and keyspaces of the manifest.
extension CurrentManifest {
  var features: UInt64 { withLock { $0.features } }

  /// Adds a feature, unless it is there already.
  func add(feature: UInt64) throws(StoreError) {
    try withLock { (manifest) throws(StoreError) in
      guard manifest.features & feature == 0 else { return }
      var changed = manifest
      changed.features |= feature
      try replace(&manifest, changed)
    }
  }

  /// Whether a keyspace is listed.
  func lists(keyspace: KeyspaceID) -> Bool { withLock { $0.keyspaces.index(of: keyspace) != nil } }

  /// Notes that a commit has defined a keyspace.
  func note(_ keyspace: Manifest.Keyspace) {
    withLock { manifest in
      manifest.nextKeyspace = max(manifest.nextKeyspace, keyspace.id.next)
      manifest.keyspaces.insert(keyspace, at: manifest.keyspaces.partitioningIndex { $0.id > keyspace.id })
    }
  }

  /// Notes that a keyspace may retain this many older versions. Recovery has to know that before it reads the records.
  func note(_ keyspace: KeyspaceID, oldVersions: UInt32) {
    withLock { manifest in
      guard let index = manifest.keyspaces.index(of: keyspace) else { return }
      manifest.keyspaces[index].oldVersions = max(manifest.keyspaces[index].oldVersions, oldVersions)
    }
  }

  /// Notes that a commit has dropped a keyspace. The keyspace stays listed until all checkpoints are newer than that
  /// commit.
  func note(_ keyspace: KeyspaceID, droppedAt sequence: CommitSequence) {
    withLock { manifest in
      guard let index = manifest.keyspaces.index(of: keyspace) else { return }
      manifest.keyspaces[index].droppedAt = sequence
    }
  }

  /// The name of a keyspace if a commit has dropped it that is not durable.
  func name(ofUndurablyDropped keyspace: KeyspaceID) -> String? {
    withLock { manifest in
      manifest.keyspaces.element(keyspace).flatMap { $0.droppedAt > durable.sequence ? $0.name : nil }
    }
  }
}
