import Synchronization

/// Enters a batch that is in the log into the index.
extension Writer {
  /// Enters the changes into the index. Until they are published, a reader that meets one looks for the version before
  /// it.
  mutating func apply(_ batch: BatchBuffer, _ sequence: CommitSequence) throws(StoreError) {
    let isLarge = batch.changeCount > Self.groupSize
    for position in 0..<batch.changeCount {
      if isLarge, position % Self.groupSize == 0 { prefetchPlaces(batch, from: position + Self.groupSize) }
      let change = unsafe batch.changes + position
      guard unsafe isWritten(change) else { continue }
      try unsafe change.pointee.keyspace.withBorrowed { (keyspace) throws(StoreError) in
        try unsafe apply(keyspace, batch, change, sequence)
      }
    }
  }

  @inline(__always)
  private mutating func apply(
    _ keyspace: KeyspaceIndex, _ batch: BatchBuffer, _ change: UnsafeMutablePointer<BatchBuffer.Change>,
    _ sequence: CommitSequence
  ) throws(StoreError) {
    let oldVersions = Int(keyspace.oldVersions.load(ordering: .relaxed))
    switch unsafe change.pointee.found {
    case .row:
      unsafe supersede(keyspace, change, sequence, expiredBy: oldVersions == 0 ? sequence : VersionTable.kept)
      unsafe replace(keyspace, change)
      if oldVersions == 0 {
        unsafe countDead(keyspace, change.pointee.address, change.pointee.length)
      } else {
        unsafe expire(keyspace, change.pointee.hash, keeping: oldVersions, at: sequence)
      }
      if unsafe change.pointee.kind == .delete {
        if oldVersions == 0 {
          let tombstone = unsafe change.pointee.newAddress
          hold(keyspace, tombstone, index.table.verified(tombstone).header.paddedLength)
        }
        keyspace.rowCount.subtract(1, ordering: .releasing)
      }
    case .tombstone:
      // The tombstone is a version if versions before it were retained after its commit, even if only older
      // snapshots see them now.
      let isVersion = unsafe index.versions.hasExpired(change.pointee.hash, after: change.pointee.sequence)
      let isKept = unsafe isVersion && oldVersions > 0 && index.versions.keptCount(change.pointee.hash) > 0
      if isVersion { unsafe supersede(keyspace, change, sequence, expiredBy: isKept ? VersionTable.kept : sequence) }
      unsafe replace(keyspace, change)
      if isKept {
        unsafe expire(keyspace, change.pointee.hash, keeping: oldVersions, at: sequence)
      } else {
        unsafe hold(keyspace, change.pointee.address, -change.pointee.length)
        if isVersion {
          // The tombstone was counted as dead when the versions before it expired.
          unsafe log.segment(change.pointee.address).tombstoneBytes.subtract(change.pointee.length, ordering: .relaxed)
          unsafe expired.append(VersionName(hash: change.pointee.hash, sequence: change.pointee.sequence))
        }
      }
      keyspace.rowCount.add(1, ordering: .releasing)
    case .nothing:
      unsafe index.newRows.note(change.pointee.hash)
      try unsafe keyspace.insert(batch.key(change), change.pointee.hash, change.pointee.newAddress)
      keyspace.rowCount.add(1, ordering: .releasing)
    }
  }

  /// Adds the row's newest version, which the commit replaces, to the older versions.
  @inline(__always)
  private func supersede(
    _ keyspace: KeyspaceIndex, _ change: UnsafeMutablePointer<BatchBuffer.Change>, _ sequence: CommitSequence,
    expiredBy: CommitSequence
  ) {
    let isDelete = unsafe change.pointee.kind == .delete
    unsafe index.versions.add(
      VersionTable.Version(
        hash: change.pointee.hash, address: change.pointee.address, sequence: change.pointee.sequence,
        supersededBy: sequence, keyspace: keyspace.id, units: UInt32(change.pointee.length / Format.unit),
        isTombstone: change.pointee.found == .tombstone, isBeforeDeletion: isDelete),
      isOfDeletedRow: isDelete, expiredBy: expiredBy)
  }

  @inline(__always)
  func countDead(_ keyspace: KeyspaceIndex, _ address: LogAddress, _ length: Int) {
    guard let segment = log.segment(ifAnyAt: address) else { return }
    segment.liveBytes.subtract(length, ordering: .relaxed)
    keyspace.live.add(-length, extent: segment.extent)
  }

  /// Lets the oldest retained versions of a row expire with a commit, so that `count` are left.
  mutating func expire(_ keyspace: KeyspaceIndex, _ hash: RowHash, keeping count: Int, at sequence: CommitSequence) {
    let versions = index.versions.expire(hash, keeping: count, by: sequence)
    for version in versions {
      countDead(keyspace, version.address, version.bytes)
      expired.append(VersionName(hash: hash, sequence: version.sequence))
    }
    guard count == 0, !versions.isEmpty else { return }
    do throws(StoreError) {
      // A tombstone is retained only because of the versions before it.
      guard let newest = try unsafe keyspace.locator.find(hash), unsafe newest.record.header.isTombstone else { return }
      let length = unsafe newest.record.header.paddedLength
      unsafe countDead(keyspace, newest.address, length)
      unsafe log.segment(newest.address).tombstoneBytes.add(length, ordering: .relaxed)
      unsafe hold(keyspace, newest.address, length)
    } catch {
      // A record can no longer be read, and continues to count as live.
    }
  }

  /// Points the row's slot to its new record. Pages may have split since the row was found, so the slot is looked up
  /// again, by the old record's address.
  @inline(__always)
  private func replace(_ keyspace: KeyspaceIndex, _ change: UnsafeMutablePointer<BatchBuffer.Change>) {
    let slot = unsafe keyspace.locator.index.find(change.pointee.hash) { unsafe $0 == change.pointee.address }
    guard let slot = unsafe slot else { fatalError("a row has lost its slot") }
    unsafe keyspace.locator.index.replace(slot, change.pointee.newAddress)
  }

  /// Drops the versions that the batch has replaced or let expire, except those whose span contains a snapshot.
  mutating func dropReplaced(_ batch: BatchBuffer) {
    let hasSnapshots = !index.snapshots.isEmpty
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe change.pointee.found == .row, unsafe isWritten(change),
        unsafe change.pointee.keyspace.withBorrowed({ $0.oldVersions.load(ordering: .relaxed) == 0 })
      else { continue }
      unsafe drop(change.pointee.hash, change.pointee.sequence, mayBeNeeded: hasSnapshots)
    }
    if !expired.isEmpty { dropExpired() }
  }

  mutating func dropExpired() {
    let hasSnapshots = !index.snapshots.isEmpty
    for version in expired { drop(version.hash, version.sequence, mayBeNeeded: hasSnapshots) }
    expired.removeAll(keepingCapacity: expired.count < 1000)
  }

  /// - Parameter wasPinned: whether the version's bytes already count as pinned.
  mutating func drop(_ hash: RowHash, _ sequence: CommitSequence, mayBeNeeded: Bool, wasPinned: Bool = false) {
    if mayBeNeeded, let (version, expiredBy) = index.versions.version(hash, sequence: sequence),
      let snapshot = index.snapshots.newest(from: version.sequence, below: expiredBy)
    {
      pinned[snapshot, default: []].append(VersionName(hash: hash, sequence: sequence))
      if !wasPinned { pin(version, 1) }
      return
    }
    guard let (version, mayBeLastOfDeletedRow) = index.versions.remove(hash, sequence: sequence) else { return }
    if wasPinned { pin(version, -1) }
    if version.isTombstone {
      log.segment(ifAnyAt: version.address)?.tombstoneBytes.add(version.bytes, ordering: .relaxed)
    }
    guard mayBeLastOfDeletedRow, let keyspace = index.keyspace(id: version.keyspace) else { return }
    do throws(StoreError) {
      if let tombstone = try keyspace.remove(hash) { hold(keyspace, tombstone.address, -tombstone.length) }
    } catch {
      // A record can no longer be read: the row keeps its place in the indexes, and reads of it report the damage.
    }
  }

  func pin(_ version: VersionTable.Version, _ sign: Int) {
    let segment = log.segment(ifAnyAt: version.address)
    segment?.pinnedBytes.add(sign * version.bytes, ordering: .relaxed)
    guard sign < 0 else { return }
    segment?.losePinned(supersededBy: version.supersededBy)
    counts.releasedBytes.add(version.bytes, ordering: .relaxed)
  }

  /// Counts a tombstone as held because the indexes refer to it; with a negative length, as no longer held.
  func hold(_ keyspace: KeyspaceIndex, _ tombstone: LogAddress, _ length: Int) {
    guard let segment = log.segment(ifAnyAt: tombstone) else { return }
    segment.heldTombstoneBytes.add(length, ordering: .relaxed)
    keyspace.held.add(length, extent: segment.extent)
  }

  /// Counts the rows of a dropped keyspace as pinned, because a snapshot may still see them; with -1, as no longer
  /// pinned.
  func pin(_ keyspace: KeyspaceIndex, _ sign: Int) {
    for (extent, bytes) in keyspace.live.byExtent {
      let segment = log.segment(extent: extent)
      segment.pinnedBytes.add(sign * bytes, ordering: .relaxed)
      guard sign < 0 else { continue }
      segment.isHeldBack.store(false, ordering: .relaxed)
      counts.releasedBytes.add(bytes, ordering: .relaxed)
    }
  }

  /// Counts the tombstones of a dropped keyspace as no longer held, because its indexes are about to be cleared.
  func releaseTombstones(of keyspace: KeyspaceIndex) {
    for (extent, bytes) in keyspace.held.byExtent {
      log.segment(extent: extent).heldTombstoneBytes.subtract(bytes, ordering: .relaxed)
    }
  }
}
