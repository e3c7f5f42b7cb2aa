/// Walks the rows that a snapshot sees.
struct Scan {
  let index: Index
  let keyspace: KeyspaceIndex
  let sequence: CommitSequence
  /// Throws if the snapshot has ended. Called after pinning the era, and when a row is not found.
  let checkHeld: () throws(StoreError) -> Void

  /// The number of records that are prefetched together, ahead of the walk.
  private static let groupSize = 32

  /// Calls `body` with the rows of a range in order until it returns false, which is expected after `limit` rows. The
  /// era is pinned for one leaf at a time, so that a long walk does not keep memory from being reused.
  func ordered(
    _ tree: OrderedIndex, from lower: [UInt8], to upper: [UInt8]?, reverse: Bool, limit: Int,
    _ body: (RecordView) throws -> Bool
  ) throws {
    try LeafEntries.with { entries in
      // Where the walk has got to; nil at the beginning or, in reverse, at the end.
      var bound: [UInt8]? = reverse ? upper : lower.isEmpty ? nil : lower
      let end: [UInt8]? = reverse ? (lower.isEmpty ? nil : lower) : upper
      while true {
        let pin = index.eras.pin()
        defer { index.eras.unpin(pin) }
        try checkHeld()
        let fence = try tree.leaf(at: bound, below: reverse, goingOn: limit > Leaf.maximumCapacity, into: &entries)
        if reverse { entries.reverse() }
        guard try walk(entries, from: bound, to: end, reverse: reverse, limit: limit, body) else { return }
        guard let next = fence?.bytes else { return }
        // The next leaf has no keys of the range.
        if reverse ? lower.isAtOrAbove(next) : upper.map({ next.isAtOrAbove($0) }) ?? false { return }
        bound = next
      }
    }
  }

  /// Walks from one bound to the other, in either direction; returns false if the scan is over. A leaf may begin before
  /// `start`, because the writer may merge leaves meanwhile.
  private func walk(
    _ entries: LeafEntries, from start: [UInt8]?, to end: [UInt8]?, reverse: Bool, limit: Int,
    _ body: (RecordView) throws -> Bool
  ) throws -> Bool {
    let count = entries.count
    let expected = min(count, limit)
    var start = start
    locate(entries, 0..<expected)
    prefetch(entries, 0..<min(Self.groupSize, expected))
    for position in 0..<count {
      if position % Self.groupSize == 0, position + Self.groupSize < expected {
        prefetch(entries, position + Self.groupSize..<min(position + 2 * Self.groupSize, expected))
      }
      if position >= expected { locate(entries, position..<position + 1) }
      guard let record = try record(entries[position]) else {
        try checkHeld()
        continue
      }
      if let bound = start {
        if isBelow(record, bound) != reverse { continue }
        start = nil
      }
      if let end, isBelow(record, end) == reverse { return false }
      guard try body(record) else { return false }
    }
    return true
  }

  @inline(__always)
  func isBelow(_ record: RecordView, _ bound: [UInt8]) -> Bool {
    unsafe bound.withUnsafeBytes { unsafe record.key.order($0) < 0 }
  }

  /// Replaces each head, which is not needed any more, with the address of the record that is most likely the row's
  /// newest.
  // Kept out of the walk, like `prefetch`: the compiler inlines what is done for every row only while the walk is
  // short.
  @inline(never)
  private func locate(_ entries: LeafEntries, _ range: Range<Int>) {
    let locator = keyspace.locator
    for position in range { entries[position].head = locator.index.prefetchedLine(entries[position].hash) }
    for position in range {
      let (hash, line) = (entries[position].hash, entries[position].head)
      let address = locator.index.firstAddress(hash, inLine: line) ?? locator.likelyAddress(hash)
      entries[position].head = address.rawValue
    }
  }

  /// Prefetches records. The processor continues after a prefetch only when the address has been translated, which
  /// takes longer than the other work there is; so many are issued at once, with nothing between them.
  @inline(never)
  private func prefetch(_ entries: LeafEntries, _ range: Range<Int>) {
    for position in range where entries[position].head != 0 { index.table.prefetch(LogAddress(entries[position].head)) }
  }

  /// The record of a row that the snapshot sees. The entry's head is the likely address of the row's newest record.
  @inline(__always)
  private func record(_ entry: Leaf.Entry) throws(StoreError) -> RecordView? {
    let locator = keyspace.locator
    if entry.head != 0, let record = index.table.record(LogAddress(entry.head)), record.header.sequence <= sequence,
      locator.isRow(record, entry.hash)
    {
      return record.header.isTombstone ? nil : record
    }
    return try index.record(keyspace, entry.hash, at: sequence)
  }

  /// Calls `body` with every row, in no particular order, until it returns false.
  func unordered(_ body: (RecordView) throws -> Bool) throws {
    var addresses: [LogAddress] = []
    var position: UInt32? = 0
    while let from = position {
      let pin = index.eras.pin()
      defer { index.eras.unpin(pin) }
      try checkHeld()
      position = keyspace.locator.index.addresses(from: from, into: &addresses)
      for start in addresses.indices {
        if start % Self.groupSize == 0 {
          let next = addresses[start...].dropFirst(Self.groupSize).prefix(Self.groupSize)
          for address in next { index.table.prefetch(address) }
        }
        guard let newest = index.table.record(addresses[start]) else {
          throw keyspace.locator.corruption(addresses[start])
        }
        let record: RecordView
        if newest.header.sequence <= sequence {
          guard !newest.header.isTombstone else { continue }
          record = newest
        } else {
          let hash = unsafe keyspace.hash(newest.key)
          guard let older = try unsafe index.version(keyspace, hash, newest.key, at: sequence) else {
            try checkHeld()
            continue
          }
          record = older
        }
        guard try body(record) else { return }
      }
    }
  }
}

// MARK: Histories

extension Scan {
  /// Calls `body` with the history of each row, newest first, until it returns false; deleted rows are included.
  /// The rows are in order if the keyspace is ordered.
  func histories(_ body: ([RecordView]) throws -> Bool) throws {
    if let tree = keyspace.tree {
      try orderedHistories(tree, body)
    } else {
      try unorderedHistories(body)
    }
  }

  private func orderedHistories(_ tree: OrderedIndex, _ body: ([RecordView]) throws -> Bool) throws {
    try LeafEntries.with { entries in
      var bound: [UInt8]?
      while true {
        let pin = index.eras.pin()
        defer { index.eras.unpin(pin) }
        try checkHeld()
        let fence = try tree.leaf(at: bound, below: false, goingOn: true, into: &entries)
        for position in 0..<entries.count {
          let hash = entries[position].hash
          guard let newest = unsafe try keyspace.locator.find(hash)?.record else { continue }
          if let bound, isBelow(newest, bound) { continue }
          guard try history(newest, hash, body) else { return }
        }
        guard let next = fence?.bytes else { return }
        bound = next
      }
    }
  }

  private func unorderedHistories(_ body: ([RecordView]) throws -> Bool) throws {
    var addresses: [LogAddress] = []
    var position: UInt32? = 0
    while let from = position {
      let pin = index.eras.pin()
      defer { index.eras.unpin(pin) }
      try checkHeld()
      position = keyspace.locator.index.addresses(from: from, into: &addresses)
      for address in addresses {
        guard let newest = index.table.record(address) else { throw keyspace.locator.corruption(address) }
        guard try history(newest, unsafe keyspace.hash(newest.key), body) else { return }
      }
    }
  }

  private func history(
    _ newest: RecordView, _ hash: RowHash, _ body: ([RecordView]) throws -> Bool
  ) throws -> Bool {
    let records = try unsafe index.history(keyspace, hash, newest.key, at: sequence)
    try checkHeld()
    return records.isEmpty ? true : try body(records)
  }
}

extension [UInt8] {
  fileprivate func isAtOrAbove(_ other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { bytes in unsafe other.withUnsafeBytes { unsafe bytes.order($0) >= 0 } }
  }
}
