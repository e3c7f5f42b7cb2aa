/// Walks the rows that a snapshot sees.
struct Scan {
  let index: Index
  let keyspace: KeyspaceIndex
  let sequence: UInt64

  /// Rows whose lines and records are asked for together, before the first is looked at.
  private static let batch = 16

  /// Calls `body` with the rows of a range in order until it says false. The epoch is pinned a leaf at a time, so that a long
  /// walk holds back no memory.
  func ordered(
    _ tree: OrderedIndex, from lower: [UInt8], to upper: [UInt8]?, reverse: Bool, _ body: (RecordView) throws -> Bool
  ) throws {
    var bound: [UInt8]? = reverse ? upper : lower.isEmpty ? nil : lower
    var entries: [Leaf.Entry] = []
    entries.reserveCapacity(Leaf.maximumCapacity)
    while true {
      let pin = index.epochs.pin()
      defer { index.epochs.unpin(pin) }
      let next = try tree.leaf(at: bound, below: reverse, into: &entries)
      if reverse { entries.reverse() }
      guard try walk(entries, from: lower, to: upper, reverse: reverse, body) else { return }
      guard let next else { return }
      // The next leaf has nothing of the range.
      if reverse ? lower.isAtOrAbove(next) : upper.map({ next.isAtOrAbove($0) }) ?? false { return }
      bound = next
    }
  }

  private func walk(
    _ entries: [Leaf.Entry], from lower: [UInt8], to upper: [UInt8]?, reverse: Bool, _ body: (RecordView) throws -> Bool
  ) throws -> Bool {
    var start = 0
    while start < entries.count {
      let end = min(start + Self.batch, entries.count)
      for position in start..<end { keyspace.locator.index.prefetch(entries[position].hash) }
      for position in start..<end { keyspace.locator.prefetchRecord(entries[position].hash) }
      for position in start..<end {
        guard let record = try index.record(keyspace, entries[position].hash, at: sequence) else { continue }
        if !lower.isEmpty, lower.withUnsafeBytes({ record.key.order($0) < 0 }) {
          if reverse { return false }
          continue
        }
        if let upper, upper.withUnsafeBytes({ record.key.order($0) >= 0 }) {
          if reverse { continue }
          return false
        }
        guard try body(record) else { return false }
      }
      start = end
    }
    return true
  }

  /// Calls `body` with every row, in no order, until it says false.
  func unordered(_ body: (RecordView) throws -> Bool) throws {
    var addresses: [UInt64] = []
    var position: UInt32? = 0
    while let from = position {
      let pin = index.epochs.pin()
      defer { index.epochs.unpin(pin) }
      position = keyspace.locator.index.addresses(from: from, into: &addresses)
      for start in addresses.indices {
        if start + Self.batch < addresses.count { index.table.prefetch(addresses[start + Self.batch]) }
        guard let newest = index.table.record(addresses[start]) else { throw keyspace.locator.corruption(addresses[start]) }
        let record: RecordView
        if newest.header.revision <= sequence {
          guard !newest.header.isTombstone else { continue }
          record = newest
        } else {
          let hash = keyspace.hash(newest.key)
          guard let older = try index.version(keyspace, hash, newest.key, at: sequence) else { continue }
          record = older
        }
        guard try body(record) else { return }
      }
    }
  }
}

extension [UInt8] {
  fileprivate func isAtOrAbove(_ other: [UInt8]) -> Bool {
    withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.order($0) >= 0 } }
  }
}
