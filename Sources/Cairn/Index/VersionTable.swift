import Synchronization

/// Older versions that somebody may still read: what a commit in progress is about to replace, and what a snapshot
/// holds on to.
///
/// A chained hash table, rows found by their hash. The writer adds a version before it replaces it in the hash index,
/// and takes it away once no snapshot lies in its span. 64 bytes a version.
@safe final class VersionTable: @unchecked Sendable {
  /// A version and the span of sequences in which it was the row's newest.
  struct Version {
    let hash: UInt64
    var address: UInt64
    let sequence: UInt64
    let supersededBy: UInt64
    let keyspace: UInt32
    /// Of its record, in units.
    var units: UInt32
    /// A delete superseded it or a later version of the row: with the last of them the row's place in the indexes goes
    /// too. The writer's own.
    var isOfDeletedRow: Bool
  }

  private static let nodeSize = 64
  private static let nextOffset = 48

  private let arena: Arena
  /// [number of buckets − 1][heads]
  private let buckets: Atomic<UInt>
  private var bucketArrays: [UnsafeMutableRawPointer] = unsafe []
  private let nodeCount = Atomic<Int>(0)

  init(arena: Arena) {
    self.arena = arena
    buckets = Atomic(0)
    unsafe publish(newBuckets(64))
  }

  deinit { unsafe bucketArrays.forEach { unsafe $0.deallocate() } }

  /// Number of versions kept.
  var count: Int { nodeCount.load(ordering: .relaxed) }

  private typealias Link = UnsafeMutablePointer<Atomic<UInt32>>

  private func newBuckets(_ count: Int) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 8 + 4 * count, alignment: 8)
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

  private func head(_ hash: UInt64, in memory: UnsafeMutableRawPointer) -> Link {
    let index = unsafe Int(truncatingIfNeeded: hash & memory.load(as: UInt64.self))
    return unsafe (memory + 8).assumingMemoryBound(to: Atomic<UInt32>.self) + index
  }

  private func version(_ node: UInt32) -> UnsafeMutablePointer<Version> {
    unsafe arena[node].assumingMemoryBound(to: Version.self)
  }

  private func next(_ node: UInt32) -> Link {
    unsafe (arena[node] + Self.nextOffset).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  /// The log address of the version that was the newest at `sequence`, if it is kept.
  func find(_ hash: UInt64, at sequence: UInt64) -> UInt64? {
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

  // MARK: Changing (the writer's)

  func add(_ version: Version) {
    if unsafe count > Int(truncatingIfNeeded: current.load(as: UInt64.self)) * 2 { grow() }
    unsafe link(version, in: current)
    nodeCount.add(1, ordering: .relaxed)
  }

  private func link(_ version: Version, in memory: UnsafeMutableRawPointer) {
    let node = arena.allocate(Self.nodeSize)
    let head = unsafe head(version.hash, in: memory)
    unsafe arena[node].bindMemory(to: Version.self, capacity: 1).initialize(to: version)
    unsafe (arena[node] + Self.nextOffset).bindMemory(to: Atomic<UInt32>.self, capacity: 1)
      .initialize(to: Atomic(head.pointee.load(ordering: .relaxed)))
    unsafe head.pointee.store(node, ordering: .releasing)
  }

  /// Copies everything into four times as many buckets; readers go on in the old ones.
  private func grow() {
    let old = unsafe current
    let oldCount = unsafe Int(truncatingIfNeeded: old.load(as: UInt64.self)) + 1
    let larger = unsafe newBuckets(oldCount * 4)
    var copied: [UInt32] = []
    for bucket in 0..<oldCount {
      var node = unsafe head(UInt64(bucket), in: old).pointee.load(ordering: .relaxed)
      while node != 0 {
        unsafe link(version(node).pointee, in: larger)
        copied.append(node)
        node = unsafe next(node).pointee.load(ordering: .relaxed)
      }
    }
    unsafe publish(larger)
    for node in copied { arena.retire(node, Self.nodeSize) }
  }

  /// Takes away the version of a row that a commit wrote. If the row was deleted and this was the last version kept,
  /// its place in the indexes can go too.
  func remove(_ hash: UInt64, sequence: UInt64) -> (version: Version, wasLastOfDeletedRow: Bool)? {
    var link = unsafe head(hash, in: current)
    var found: (link: Link, node: UInt32)?
    var other: UInt32 = 0
    while case let node = unsafe link.pointee.load(ordering: .relaxed), node != 0 {
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
    unsafe found.link.pointee.store(next(found.node).pointee.load(ordering: .relaxed), ordering: .releasing)
    unsafe arena.retire(found.node, Self.nodeSize)
    nodeCount.subtract(1, ordering: .relaxed)
    if removed.isOfDeletedRow, other != 0 { unsafe version(other).pointee.isOfDeletedRow = true }
    return (removed, removed.isOfDeletedRow && other == 0)
  }

  /// Leads the version at an address to a copy of its record; returns it as it was, nil if there is none.
  func move(_ hash: UInt64, from old: UInt64, to address: UInt64, units: UInt32) -> Version? {
    var link = unsafe head(hash, in: current)
    while case let node = unsafe link.pointee.load(ordering: .relaxed), node != 0 {
      let version = unsafe version(node).pointee
      if version.hash == hash, version.address == old {
        var moved = version
        moved.address = address
        moved.units = units
        // Readers find the one or the other.
        let copy = arena.allocate(Self.nodeSize)
        unsafe arena[copy].bindMemory(to: Version.self, capacity: 1).initialize(to: moved)
        unsafe (arena[copy] + Self.nextOffset).bindMemory(to: Atomic<UInt32>.self, capacity: 1)
          .initialize(to: Atomic(next(node).pointee.load(ordering: .relaxed)))
        unsafe link.pointee.store(copy, ordering: .releasing)
        arena.retire(node, Self.nodeSize)
        return version
      }
      unsafe link = unsafe next(node)
    }
    return nil
  }

  /// The version at an address, if one is kept there. For a reader that has pinned the epoch.
  func version(_ hash: UInt64, at address: UInt64) -> Version? {
    var node = unsafe head(hash, in: current).pointee.load(ordering: .acquiring)
    while node != 0 {
      let version = unsafe version(node)
      if unsafe version.pointee.hash == hash, unsafe version.pointee.address == address {
        return unsafe version.pointee
      }
      node = unsafe next(node).pointee.load(ordering: .acquiring)
    }
    return nil
  }

  func version(_ hash: UInt64, sequence: UInt64) -> Version? {
    var node = unsafe head(hash, in: current).pointee.load(ordering: .relaxed)
    while node != 0 {
      let version = unsafe version(node).pointee
      if version.hash == hash, version.sequence == sequence { return version }
      node = unsafe next(node).pointee.load(ordering: .relaxed)
    }
    return nil
  }

  /// The rows, by hash and keyspace, of the versions that were no longer their newest at `sequence`. For a reader that
  /// has pinned the epoch.
  func superseded(at sequence: UInt64) -> [(hash: UInt64, keyspace: UInt32)] {
    var rows: [(hash: UInt64, keyspace: UInt32)] = []
    let memory = unsafe current
    for bucket in unsafe 0...memory.load(as: UInt64.self) {
      var node = unsafe head(bucket, in: memory).pointee.load(ordering: .acquiring)
      while node != 0 {
        let version = unsafe version(node)
        if unsafe version.pointee.supersededBy <= sequence {
          unsafe rows.append((version.pointee.hash, version.pointee.keyspace))
        }
        node = unsafe next(node).pointee.load(ordering: .acquiring)
      }
    }
    return rows
  }
}
