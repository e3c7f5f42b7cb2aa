import Synchronization

/// Older versions that somebody may still read: those that a commit in progress is about to replace, that a snapshot
/// needs, or that a keyspace retains.
///
/// A chained hash table, by the hashes of rows. The writer adds a version before it replaces it in the hash index, lets
/// it *expire* with the commit that makes it one too many, and removes it once no snapshot is left between the commit
/// that wrote it and the commit with which it expired. The newest version of a row usually comes first, but nothing
/// depends on that. 64 bytes a version.
@safe final class VersionTable: @unchecked Sendable {
  /// A version and the span of sequences in which it was the row's newest.
  struct Version {
    let hash: RowHash
    var address: LogAddress
    let sequence: CommitSequence
    let supersededBy: CommitSequence
    let keyspace: KeyspaceID
    /// The length of its record, in units.
    var units: UInt32
    let isTombstone: Bool
    /// Whether a deletion superseded it.
    let isBeforeDeletion: Bool

    var bytes: Int { Int(units) * Format.unit }
  }

  /// The value of `expiredBy` until a version expires.
  static let kept = CommitSequence.max

  static let nodeSize = 64
  /// The address of the next node, after the version.
  private static let nextOffset = 48
  /// 1 if a deletion superseded the version or a later one of the row, or may have: with the last such version, the
  /// row's place in the indexes is removed, too. Used by the writer only.
  private static let deletedOffset = 52
  private static let expiredOffset = 56

  private let arena: Arena
  /// Points to the number of buckets − 1, followed by the heads of the buckets.
  private let buckets: Atomic<UInt>
  private var bucketArrays: [UnsafeMutableRawPointer] = unsafe []
  private let nodeCount = Atomic<Int>(0)

  init(arena: Arena) {
    self.arena = arena
    buckets = Atomic(0)
    unsafe publish(newBuckets(64))
  }

  deinit { unsafe bucketArrays.forEach { unsafe $0.deallocate() } }

  /// The number of versions in the table.
  var count: Int { nodeCount.load(ordering: .relaxed) }

  private typealias Link = UnsafeMutablePointer<Atomic<UInt32>>

  private func newBuckets(_ count: Int) -> UnsafeMutableRawPointer {
    unsafe fill(.allocate(byteCount: 8 + 4 * count, alignment: 8), count)
  }

  private func fill(_ memory: UnsafeMutableRawPointer, _ count: Int) -> UnsafeMutableRawPointer {
    unsafe memory.storeBytes(of: UInt64(count - 1), as: UInt64.self)
    let heads = unsafe (memory + 8).bindMemory(to: Atomic<UInt32>.self, capacity: count)
    for index in 0..<count { unsafe (heads + index).initialize(to: Atomic(0)) }
    return unsafe memory
  }

  private func publish(_ memory: UnsafeMutableRawPointer) {
    unsafe bucketArrays.append(memory)
    buckets.store(UInt(bitPattern: memory), ordering: .releasing)
  }

  private var current: UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(bitPattern: buckets.load(ordering: .acquiring)).unsafelyUnwrapped
  }

  private func head(_ hash: RowHash, in memory: UnsafeMutableRawPointer) -> Link {
    let index = unsafe Int(truncatingIfNeeded: hash.rawValue & memory.load(as: UInt64.self))
    return unsafe (memory + 8).assumingMemoryBound(to: Atomic<UInt32>.self) + index
  }

  private func version(_ node: UInt32) -> UnsafeMutablePointer<Version> {
    unsafe arena[node].assumingMemoryBound(to: Version.self)
  }

  private func next(_ node: UInt32) -> Link {
    unsafe (arena[node] + Self.nextOffset).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  private func expiredBy(_ node: UInt32) -> UnsafeMutablePointer<Atomic<CommitSequence>> {
    unsafe (arena[node] + Self.expiredOffset).assumingMemoryBound(to: Atomic<CommitSequence>.self)
  }

  private func mayBeOfDeletedRow(_ node: UInt32) -> Bool {
    unsafe arena[node].load(fromByteOffset: Self.deletedOffset, as: UInt32.self) != 0
  }

  private func setOfDeletedRow(_ node: UInt32, _ isOfDeletedRow: Bool) {
    unsafe arena[node].storeBytes(of: isOfDeletedRow ? 1 : 0, toByteOffset: Self.deletedOffset, as: UInt32.self)
  }

  /// Calls `body` with each node of a row.
  @inline(__always)
  private func forEachNode(_ hash: RowHash, _ body: (UInt32) -> Void) {
    var node = unsafe head(hash, in: current).pointee.load(ordering: .acquiring)
    while node != 0 {
      if unsafe version(node).pointee.hash == hash { body(node) }
      node = unsafe next(node).pointee.load(ordering: .acquiring)
    }
  }

  /// The log address of the version that was the newest at `sequence`, if it is in the table.
  func find(_ hash: RowHash, asOf sequence: CommitSequence) -> LogAddress? {
    var node = unsafe head(hash, in: current).pointee.load(ordering: .acquiring)
    while node != 0 {
      let version = unsafe version(node)
      if unsafe version.pointee.hash == hash, unsafe version.pointee.sequence <= sequence,
        unsafe sequence < version.pointee.supersededBy
      {
        return unsafe version.pointee.address
      }
      node = unsafe next(node).pointee.load(ordering: .acquiring)
    }
    return nil
  }

  /// The versions of a row in the table that were retained after a commit, the row's newest at that time included. For
  /// a reader that has pinned the era and holds the commit as a snapshot.
  func all(_ hash: RowHash, asOf sequence: CommitSequence) -> [Version] {
    var versions: [Version] = []
    forEachNode(hash) { node in
      let version = unsafe version(node).pointee
      if version.sequence <= sequence, unsafe sequence < expiredBy(node).pointee.load(ordering: .acquiring) {
        versions.append(version)
      }
    }
    return versions
  }

  // MARK: Changing (the writer's)

  /// - Parameter expiredBy: `kept`, or the commit that supersedes the version.
  func add(_ version: Version, isOfDeletedRow: Bool, expiredBy: CommitSequence) {
    unsafe link(version, isOfDeletedRow, expiredBy, in: current)
    nodeCount.add(1, ordering: .relaxed)
  }

  private func link(
    _ version: Version, _ isOfDeletedRow: Bool, _ expiredBy: CommitSequence, in memory: UnsafeMutableRawPointer
  ) {
    let head = unsafe head(version.hash, in: memory)
    let node = unsafe newNode(version, isOfDeletedRow, expiredBy, next: head.pointee.load(ordering: .relaxed))
    unsafe head.pointee.store(node, ordering: .releasing)
  }

  private func newNode(
    _ version: Version, _ isOfDeletedRow: Bool, _ expiredBy: CommitSequence, next: UInt32
  ) -> UInt32 {
    let node = arena.allocate(Self.nodeSize)
    let memory = unsafe arena[node]
    unsafe memory.bindMemory(to: Version.self, capacity: 1).initialize(to: version)
    unsafe (memory + Self.nextOffset).bindMemory(to: Atomic<UInt32>.self, capacity: 1).initialize(to: Atomic(next))
    setOfDeletedRow(node, isOfDeletedRow)
    unsafe (memory + Self.expiredOffset).bindMemory(to: Atomic<CommitSequence>.self, capacity: 1)
      .initialize(to: Atomic(expiredBy))
    return node
  }

  /// Makes sure that `newVersions` versions can be added without asking the system for memory, once the arena has as
  /// many bytes as this returns.
  func reserve(_ newVersions: Int) throws(StoreError) -> Int {
    while unsafe count + newVersions > Int(truncatingIfNeeded: current.load(as: UInt64.self)) * 2 { try grow() }
    return newVersions * Self.nodeSize
  }

  /// Copies all versions into four times as many buckets; readers continue in the old ones.
  private func grow() throws(StoreError) {
    let old = unsafe current
    let oldCount = unsafe Int(truncatingIfNeeded: old.load(as: UInt64.self)) + 1
    try arena.reserve(count * Self.nodeSize)
    let larger = unsafe fill(try allocateMemory(8 + 16 * oldCount), oldCount * 4)
    var copied: [UInt32] = []
    for bucket in 0..<oldCount {
      let first = copied.count
      var node = unsafe head(RowHash(UInt64(bucket)), in: old).pointee.load(ordering: .relaxed)
      while node != 0 {
        copied.append(node)
        node = unsafe next(node).pointee.load(ordering: .relaxed)
      }
      for node in copied[first...].reversed() {
        unsafe link(
          version(node).pointee, mayBeOfDeletedRow(node), expiredBy(node).pointee.load(ordering: .relaxed), in: larger)
      }
    }
    unsafe publish(larger)
    for node in copied { arena.retire(node, Self.nodeSize) }
  }

  /// Lets the oldest retained versions of a row expire with a commit, so that `count` are left; returns them, newest
  /// first.
  func expire(_ hash: RowHash, keeping count: Int, by sequence: CommitSequence) -> [Version] {
    var keptCount = 0
    var oldest: UInt32 = 0
    forEachNode(hash) { node in
      guard unsafe expiredBy(node).pointee.load(ordering: .relaxed) == Self.kept else { return }
      keptCount += 1
      if unsafe oldest == 0 || version(node).pointee.sequence < version(oldest).pointee.sequence { oldest = node }
    }
    guard keptCount > count else { return [] }
    var nodes = [oldest]
    if keptCount > count + 1 {
      nodes.removeAll()
      forEachNode(hash) { node in
        if unsafe expiredBy(node).pointee.load(ordering: .relaxed) == Self.kept { nodes.append(node) }
      }
      nodes.sort { unsafe version($0).pointee.sequence > version($1).pointee.sequence }
      nodes.removeFirst(count)
    }
    for node in nodes { unsafe expiredBy(node).pointee.store(sequence, ordering: .releasing) }
    return nodes.map { unsafe version($0).pointee }
  }

  /// How many versions of a row have not expired. Also for a reader that has pinned the era.
  func keptCount(_ hash: RowHash) -> Int {
    var count = 0
    forEachNode(hash) { node in
      if unsafe expiredBy(node).pointee.load(ordering: .relaxed) == Self.kept { count += 1 }
    }
    return count
  }

  /// Whether a version of a row expired after a commit, or hasn't expired.
  func hasExpired(_ hash: RowHash, after sequence: CommitSequence) -> Bool {
    var isFound = false
    forEachNode(hash) { node in
      if unsafe expiredBy(node).pointee.load(ordering: .relaxed) > sequence { isFound = true }
    }
    return isFound
  }

  /// The last commit with which a version of a row expired; 0 if the table has none.
  func lastExpiry(_ hash: RowHash) -> CommitSequence {
    var last: CommitSequence = 0
    forEachNode(hash) { node in last = unsafe max(last, expiredBy(node).pointee.load(ordering: .relaxed)) }
    return last
  }

  /// Removes the version of a row that a commit wrote. Also returns whether the row may have been deleted and this was
  /// its last version here; then the row's place in the indexes can go too.
  func remove(_ hash: RowHash, sequence: CommitSequence) -> (version: Version, mayBeLastOfDeletedRow: Bool)? {
    var link = unsafe head(hash, in: current)
    var found: (link: Link, node: UInt32)?
    var other: UInt32 = 0
    while case let node = unsafe link.pointee.load(ordering: .relaxed), node != 0,
      unsafe found == nil || other == 0
    {
      if unsafe version(node).pointee.hash == hash {
        if unsafe version(node).pointee.sequence == sequence {
          unsafe found = unsafe (link, node)
        } else {
          other = node
        }
      }
      unsafe link = unsafe next(node)
    }
    guard let found = unsafe found else { return nil }
    let removed = unsafe version(found.node).pointee
    let isOfDeletedRow = unsafe mayBeOfDeletedRow(found.node)
    unsafe found.link.pointee.store(next(found.node).pointee.load(ordering: .relaxed), ordering: .releasing)
    unsafe arena.retire(found.node, Self.nodeSize)
    nodeCount.subtract(1, ordering: .relaxed)
    if isOfDeletedRow, other != 0 { setOfDeletedRow(other, true) }
    return (removed, isOfDeletedRow && other == 0)
  }

  /// Redirects the version at an address to a copy of its record; returns it as it was, or nil if there is none.
  func move(
    _ hash: RowHash, from old: LogAddress, to address: LogAddress, units: UInt32
  ) -> (version: Version, isKept: Bool)? {
    var link = unsafe head(hash, in: current)
    while case let node = unsafe link.pointee.load(ordering: .relaxed), node != 0 {
      let version = unsafe version(node).pointee
      if version.hash == hash, version.address == old {
        var moved = version
        moved.address = address
        moved.units = units
        let expiredBy = unsafe expiredBy(node).pointee.load(ordering: .relaxed)
        // Readers find either the old node or the new one.
        let copy = unsafe newNode(
          moved, mayBeOfDeletedRow(node), expiredBy, next: next(node).pointee.load(ordering: .relaxed))
        unsafe link.pointee.store(copy, ordering: .releasing)
        arena.retire(node, Self.nodeSize)
        return (version, expiredBy == Self.kept)
      }
      unsafe link = unsafe next(node)
    }
    return nil
  }

  // MARK: Looking at what is there

  /// The version at an address and the commit with which it expires; nil if there is none. For a reader that has pinned
  /// the era.
  func version(_ hash: RowHash, at address: LogAddress) -> (version: Version, expiredBy: CommitSequence)? {
    var found: (Version, CommitSequence)?
    forEachNode(hash) { node in
      if unsafe version(node).pointee.address == address {
        found = unsafe (version(node).pointee, expiredBy(node).pointee.load(ordering: .acquiring))
      }
    }
    return found
  }

  func version(_ hash: RowHash, sequence: CommitSequence) -> (version: Version, expiredBy: CommitSequence)? {
    var found: (Version, CommitSequence)?
    forEachNode(hash) { node in
      if unsafe version(node).pointee.sequence == sequence {
        found = unsafe (version(node).pointee, expiredBy(node).pointee.load(ordering: .relaxed))
      }
    }
    return found
  }

  /// A power of two that never decreases.
  var bucketCount: Int { unsafe Int(truncatingIfNeeded: current.load(as: UInt64.self)) + 1 }

  /// The versions for which `isWanted` returns true, in one of `count` parts of the table; `count` is its present or a
  /// former number of buckets. For a reader that has pinned the era.
  func versions(
    part: Int, of count: Int, where isWanted: (_ version: Version, _ expiredBy: CommitSequence) -> Bool
  ) -> [Version] {
    var versions: [Version] = []
    let memory = unsafe current
    for bucket in unsafe stride(from: UInt64(part), through: memory.load(as: UInt64.self), by: count) {
      var node = unsafe head(RowHash(bucket), in: memory).pointee.load(ordering: .acquiring)
      while node != 0 {
        let version = unsafe version(node).pointee
        if unsafe isWanted(version, expiredBy(node).pointee.load(ordering: .acquiring)) { versions.append(version) }
        node = unsafe next(node).pointee.load(ordering: .acquiring)
      }
    }
    return versions
  }

  /// The wanted versions of the whole table.
  func versions(where isWanted: (_ version: Version, _ expiredBy: CommitSequence) -> Bool) -> [Version] {
    versions(part: 0, of: 1, where: isWanted)
  }

  // MARK: Checkpoints

  /// Writes the versions of one bucket into the file of a checkpoint; returns the address of the first, or 0.
  static func write(_ versions: [Version], to nodes: inout some NodeSink<StoreError>) throws(StoreError) -> UInt32 {
    var next: UInt32 = 0
    for version in versions.reversed() {
      next = try unsafe nodes.add(nodeSize) { memory in
        unsafe memory.storeBytes(of: version, as: Version.self)
        unsafe memory.storeBytes(of: next, toByteOffset: nextOffset, as: UInt32.self)
        unsafe memory.storeBytes(of: 1, toByteOffset: deletedOffset, as: UInt32.self)
        unsafe memory.storeBytes(of: kept, toByteOffset: expiredOffset, as: CommitSequence.self)
      }
    }
    return next
  }

  /// Begins with nodes that are in the arena already. Before the store is shared.
  func adopt(heads: [UInt32], count: Int) {
    let memory = unsafe newBuckets(heads.count)
    for (bucket, node) in heads.enumerated() {
      unsafe head(RowHash(UInt64(bucket)), in: memory).pointee.store(node, ordering: .relaxed)
    }
    unsafe publish(memory)
    nodeCount.store(count, ordering: .relaxed)
  }

  /// Whether these are buckets of `count` versions, with addresses for which `isCovered` and keyspaces for which
  /// `isKnown` returns true, all superseded at or before a commit.
  static func isSound(
    _ arena: Arena, heads: [UInt32], count: Int, nodesEnd: Int, upTo sequence: CommitSequence,
    isCovered: (LogAddress) -> Bool, isKnown: (KeyspaceID) -> Bool
  ) -> Bool {
    guard heads.count.nonzeroBitCount == 1 else { return false }
    var left = count
    for (bucket, first) in heads.enumerated() {
      var node = first
      while node != 0 {
        guard left > 0, Int(node) * 64 + nodeSize <= nodesEnd else { return false }
        left -= 1
        let memory = unsafe arena[node]
        // Bytes must be checked before they are read as Bools: other values than 0 and 1 are invalid.
        guard unsafe memory.load(fromByteOffset: 40, as: UInt64.self) & ~0x0101 == 0,
          unsafe memory.load(fromByteOffset: deletedOffset, as: UInt32.self) == 1,
          unsafe memory.load(fromByteOffset: expiredOffset, as: CommitSequence.self) == kept
        else { return false }
        let version = unsafe memory.load(as: Version.self)
        guard Int(truncatingIfNeeded: version.hash.rawValue) & (heads.count - 1) == bucket, isCovered(version.address),
          isKnown(version.keyspace), version.sequence < version.supersededBy, version.supersededBy <= sequence
        else { return false }
        node = unsafe memory.load(fromByteOffset: nextOffset, as: UInt32.self)
      }
    }
    return left == 0
  }
}
