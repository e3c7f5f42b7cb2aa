import Synchronization

/// What compaction does with the index between two commits.
extension Writer {
  /// A record in the log: its address, and its length in bytes.
  struct Span {
    var address: LogAddress
    var length: Int
  }

  /// Redirects a row's slot, or an older version of the row, from a record to its copy. Returns false if neither refers
  /// to the record any more because of a commit made meanwhile; then the copy is dead.
  func move(_ keyspace: KeyspaceIndex, _ hash: RowHash, from old: Span, to new: Span, isPut: Bool) -> Bool {
    let source = log.segment(old.address)
    let target = log.segment(new.address)
    let isKept: Bool
    if let slot = unsafe keyspace.locator.index.find(hash, { $0 == old.address }) {
      unsafe keyspace.locator.index.replace(slot, new.address)
      guard isPut || index.versions.keptCount(hash) > 0 else {
        hold(keyspace, old.address, -old.length)
        hold(keyspace, new.address, new.length)
        return true
      }
      isKept = true
    } else if let moved = index.versions.move(
      hash, from: old.address, to: new.address, units: UInt32(new.length / Format.unit))
    {
      isKept = moved.isKept
    } else {
      return false
    }
    let isDropped = keyspace.droppedAt.load(ordering: .relaxed) != .max
    if isKept {
      keyspace.live.add(-old.length, extent: source.extent)
      keyspace.live.add(new.length, extent: target.extent)
    }
    source.count(-old.length, isPinned: !isKept || isDropped)
    target.count(new.length, isPinned: !isKept || isDropped)
    if !isPut { target.tombstoneBytes.subtract(new.length, ordering: .relaxed) }
    return true
  }
}
