import Synchronization

/// What commits do with whole keyspaces.
extension Writer {
  // MARK: Dictionaries

  @inline(__always)
  func note(put bytes: Int, _ keyspace: KeyspaceIndex) {
    let sum = keyspace.putBytes.load(ordering: .relaxed) &+ bytes
    keyspace.putBytes.store(sum, ordering: .relaxed)
    if sum >= keyspace.nextTraining.load(ordering: .relaxed) { counts.isTrainingDue.store(true, ordering: .relaxed) }
  }

  // MARK: Keyspaces

  func requireExisting(_ keyspace: KeyspaceIndex) throws(StoreError) {
    guard keyspace.droppedAt.load(ordering: .relaxed) == .max else {
      throw StoreError(.keyspaceDropped, "keyspace \(keyspace.name) has been dropped")
    }
  }

  mutating func clear(_ keyspace: KeyspaceIndex) {
    droppedKeyspaces.append(keyspace)
    pin(keyspace, 1)
    counts.hasDropped.store(true, ordering: .relaxed)
    clearDropped()
  }

  /// Releases the memory of dropped keyspaces that no snapshot sees any more. A reader of the latest state pins the
  /// era before it checks whether the keyspace exists, so it can finish.
  mutating func clearDropped() {
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
    counts.hasDropped.store(!droppedKeyspaces.isEmpty, ordering: .relaxed)
  }

  private func removeKept(of keyspace: KeyspaceIndex) {
    for version in retainedVersions(of: keyspace) {
      _ = index.versions.remove(version.hash, sequence: version.sequence)
    }
  }

  /// The older versions that a keyspace retains.
  func retainedVersions(of keyspace: KeyspaceIndex) -> [VersionTable.Version] {
    index.versions.versions { version, expiredBy in
      version.keyspace == keyspace.id && expiredBy == VersionTable.kept
    }
  }
}
