import Synchronization

/// How a batch that is in the log is entered into the index.
extension Committer {
  /// Enters the changes into the index. Until they are published, readers who meet them look for the version before.
  func apply(_ batch: BatchBuffer, _ sequence: UInt64) throws(StoreError) {
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
  private func apply(
    _ keyspace: KeyspaceIndex, _ batch: BatchBuffer, _ change: UnsafeMutablePointer<BatchBuffer.Change>,
    _ sequence: UInt64
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
      // It is a version as long as others were kept behind it, be it in what older snapshots see.
      let isVersion = unsafe index.versions.hasExpired(change.pointee.hash, after: change.pointee.revision)
      let isKept = unsafe isVersion && oldVersions > 0 && index.versions.keptCount(change.pointee.hash) > 0
      if isVersion { unsafe supersede(keyspace, change, sequence, expiredBy: isKept ? VersionTable.kept : sequence) }
      unsafe replace(keyspace, change)
      if isKept {
        unsafe expire(keyspace, change.pointee.hash, keeping: oldVersions, at: sequence)
      } else {
        unsafe hold(keyspace, change.pointee.address, -change.pointee.length)
        if isVersion {
          // With the versions behind it, it was counted as dead.
          unsafe log.segment(change.pointee.address).tombstoneBytes.subtract(change.pointee.length, ordering: .relaxed)
          unsafe expired.append(VersionName(hash: change.pointee.hash, sequence: change.pointee.revision))
        }
      }
      keyspace.rowCount.add(1, ordering: .releasing)
    case .nothing:
      unsafe index.newRows.note(change.pointee.hash)
      try unsafe keyspace.insert(batch.key(change), change.pointee.hash, change.pointee.newAddress)
      keyspace.rowCount.add(1, ordering: .releasing)
    }
  }

  /// Adds what is the row's newest version to the older ones.
  @inline(__always)
  private func supersede(
    _ keyspace: KeyspaceIndex, _ change: UnsafeMutablePointer<BatchBuffer.Change>, _ sequence: UInt64, expiredBy: UInt64
  ) {
    let isDelete = unsafe change.pointee.kind == .delete
    unsafe index.versions.add(
      VersionTable.Version(
        hash: change.pointee.hash, address: change.pointee.address, sequence: change.pointee.revision,
        supersededBy: sequence, keyspace: keyspace.id, units: UInt32(change.pointee.length / Format.unit),
        isTombstone: change.pointee.found == .tombstone, isBeforeDeletion: isDelete),
      isOfDeletedRow: isDelete, expiredBy: expiredBy)
  }

  @inline(__always)
  private func countDead(_ keyspace: KeyspaceIndex, _ address: UInt64, _ length: Int) {
    guard let segment = log.segment(ifAnyAt: address) else { return }
    segment.liveBytes.subtract(length, ordering: .relaxed)
    keyspace.live.add(-length, slot: segment.slot)
  }

  /// Lets go of the oldest versions of a row that are too many.
  func expire(_ keyspace: KeyspaceIndex, _ hash: UInt64, keeping count: Int, at sequence: UInt64) {
    let versions = index.versions.expire(hash, keeping: count, at: sequence)
    for version in versions {
      countDead(keyspace, version.address, version.bytes)
      expired.append(VersionName(hash: hash, sequence: version.sequence))
    }
    guard count == 0, !versions.isEmpty else { return }
    do throws(StoreError) {
      // A deletion is kept for the sake of what is behind it.
      guard let newest = try unsafe keyspace.locator.find(hash), unsafe newest.record.header.isTombstone else { return }
      let length = unsafe newest.record.header.paddedLength
      unsafe countDead(keyspace, newest.address, length)
      unsafe log.segment(newest.address).tombstoneBytes.add(length, ordering: .relaxed)
      unsafe hold(keyspace, newest.address, length)
    } catch {
      // A record cannot be read any more, and goes on to count as live.
    }
  }

  /// Pages may have split since the row was found, so its slot is looked for again, by address.
  @inline(__always)
  private func replace(_ keyspace: KeyspaceIndex, _ change: UnsafeMutablePointer<BatchBuffer.Change>) {
    let slot = unsafe keyspace.locator.index.find(change.pointee.hash) { unsafe $0 == change.pointee.address }
    guard let slot = unsafe slot else { preconditionFailure("a row has lost its slot") }
    unsafe keyspace.locator.index.replace(slot, change.pointee.newAddress)
  }

  /// Nobody needs the versions that the batch replaced, unless a snapshot lies in their span.
  func dropReplaced(_ batch: BatchBuffer) {
    let hasSnapshots = !index.snapshots.isEmpty
    for position in 0..<batch.changeCount {
      let change = unsafe batch.changes + position
      guard unsafe change.pointee.found == .row, unsafe isWritten(change),
        unsafe change.pointee.keyspace.withBorrowed({ $0.oldVersions.load(ordering: .relaxed) == 0 })
      else { continue }
      unsafe drop(change.pointee.hash, change.pointee.revision, mayBeNeeded: hasSnapshots)
    }
    if !expired.isEmpty { dropExpired() }
  }

  func dropExpired() {
    let hasSnapshots = !index.snapshots.isEmpty
    for version in expired { drop(version.hash, version.sequence, mayBeNeeded: hasSnapshots) }
    expired.removeAll(keepingCapacity: expired.count < 1000)
  }

  /// - Parameter wasPinned: whether its bytes are counted as what a snapshot needs.
  func drop(_ hash: UInt64, _ sequence: UInt64, mayBeNeeded: Bool, wasPinned: Bool = false) {
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
      // A record cannot be read any more: the row's place in the indexes stays, and reads of it say so.
    }
  }

  func pin(_ version: VersionTable.Version, _ sign: Int) {
    let segment = log.segment(ifAnyAt: version.address)
    segment?.pinnedBytes.add(sign * version.bytes, ordering: .relaxed)
    guard sign < 0 else { return }
    segment?.losePinned(supersededBy: version.supersededBy)
    releasedBytes.add(version.bytes, ordering: .relaxed)
  }

  /// Counts a tombstone that the indexes lead to, or do not any more if it is negative.
  func hold(_ keyspace: KeyspaceIndex, _ tombstone: UInt64, _ length: Int) {
    guard let segment = log.segment(ifAnyAt: tombstone) else { return }
    segment.heldTombstoneBytes.add(length, ordering: .relaxed)
    keyspace.held.add(length, slot: segment.slot)
  }

  /// Somebody may still see the rows of a dropped keyspace, or nobody any more.
  func pin(_ keyspace: KeyspaceIndex, _ sign: Int) {
    for (slot, bytes) in keyspace.live.bySlot {
      let segment = log.segment(slot: slot)
      segment.pinnedBytes.add(sign * bytes, ordering: .relaxed)
      guard sign < 0 else { continue }
      segment.isHeldBack.store(false, ordering: .relaxed)
      releasedBytes.add(bytes, ordering: .relaxed)
    }
  }

  /// No index leads to the tombstones of a dropped keyspace any more.
  func letGo(_ keyspace: KeyspaceIndex) {
    for (slot, bytes) in keyspace.held.bySlot {
      log.segment(slot: slot).heldTombstoneBytes.subtract(bytes, ordering: .relaxed)
    }
  }
}
