import Synchronization

/// Older versions that somebody may still read: what a commit in progress is about to replace, and what a snapshot holds on to.
///
/// A chained hash table, rows found by their hash. The writer adds a version before it replaces it in the hash index, and takes it away
/// once no snapshot lies in its span. 64 bytes a version.
final class VersionTable: @unchecked Sendable {
  /// A version and the span of sequences in which it was the row's newest.
  struct Version {
    let hash: UInt64
    let address: UInt64
    let sequence: UInt64
    let supersededBy: UInt64
    let keyspace: UInt32
    /// A delete superseded it or a later version of the row: with the last of them the row's place in the indexes goes too.
    /// The writer's own.
    var isOfDeletedRow: Bool
  }

  private static let nodeSize = 64
  private static let nextOffset = 48

  private let arena: Arena
  /// [number of buckets − 1][heads]
  private let buckets: Atomic<UInt>
  private var bucketArrays: [UnsafeMutableRawPointer] = []
  private let nodeCount = Atomic<Int>(0)

  init(arena: Arena) {
    self.arena = arena
    buckets = Atomic(0)
    publish(newBuckets(64))
  }

  deinit { for array in bucketArrays { array.deallocate() } }

  /// Number of versions kept.
  var count: Int { nodeCount.load(ordering: .relaxed) }

  private typealias Link = UnsafeMutablePointer<Atomic<UInt32>>

  private func newBuckets(_ count: Int) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 8 + 4 * count, alignment: 8)
    memory.storeBytes(of: UInt64(count - 1), as: UInt64.self)
    let heads = (memory + 8).bindMemory(to: Atomic<UInt32>.self, capacity: count)
    for index in 0..<count { (heads + index).initialize(to: Atomic(0)) }
    return memory
  }

  private func publish(_ memory: UnsafeMutableRawPointer) {
    bucketArrays.append(memory)
    buckets.store(UInt(bitPattern: memory), ordering: .releasing)
  }

  private var current: UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(bitPattern: buckets.load(ordering: .acquiring)).unsafelyUnwrapped
  }

  private func head(_ hash: UInt64, in memory: UnsafeMutableRawPointer) -> Link {
    let index = Int(truncatingIfNeeded: hash & memory.load(as: UInt64.self))
    return (memory + 8).assumingMemoryBound(to: Atomic<UInt32>.self) + index
  }

  private func version(_ node: UInt32) -> UnsafeMutablePointer<Version> {
    arena[node].assumingMemoryBound(to: Version.self)
  }

  private func next(_ node: UInt32) -> Link {
    (arena[node] + Self.nextOffset).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  /// The log address of the version that was the newest at `sequence`, if it is kept.
  func find(_ hash: UInt64, at sequence: UInt64) -> UInt64? {
    var node = head(hash, in: current).pointee.load(ordering: .acquiring)
    while node != 0 {
      let version = version(node)
      if version.pointee.hash == hash, version.pointee.sequence <= sequence, sequence < version.pointee.supersededBy {
        return version.pointee.address
      }
      node = next(node).pointee.load(ordering: .acquiring)
    }
    return nil
  }

  // MARK: Changing (the writer's)

  func add(_ version: Version) {
    if count > Int(truncatingIfNeeded: current.load(as: UInt64.self)) * 2 { grow() }
    link(version, in: current)
    nodeCount.add(1, ordering: .relaxed)
  }

  private func link(_ version: Version, in memory: UnsafeMutableRawPointer) {
    let node = arena.allocate(Self.nodeSize)
    let head = head(version.hash, in: memory)
    arena[node].bindMemory(to: Version.self, capacity: 1).initialize(to: version)
    (arena[node] + Self.nextOffset).bindMemory(to: Atomic<UInt32>.self, capacity: 1)
      .initialize(to: Atomic(head.pointee.load(ordering: .relaxed)))
    head.pointee.store(node, ordering: .releasing)
  }

  /// Copies everything into four times as many buckets; readers go on in the old ones.
  private func grow() {
    let old = current
    let oldCount = Int(truncatingIfNeeded: old.load(as: UInt64.self)) + 1
    let larger = newBuckets(oldCount * 4)
    var copied: [UInt32] = []
    for bucket in 0..<oldCount {
      var node = head(UInt64(bucket), in: old).pointee.load(ordering: .relaxed)
      while node != 0 {
        link(version(node).pointee, in: larger)
        copied.append(node)
        node = next(node).pointee.load(ordering: .relaxed)
      }
    }
    publish(larger)
    for node in copied { arena.retire(node, Self.nodeSize) }
  }

  /// Takes away the version of a row that a commit wrote. If the row was deleted and this was the last version kept, its place in the
  /// indexes can go too.
  func remove(_ hash: UInt64, sequence: UInt64) -> (version: Version, wasLastOfDeletedRow: Bool)? {
    var link = head(hash, in: current)
    var found: (link: Link, node: UInt32)?
    var other: UInt32 = 0
    while case let node = link.pointee.load(ordering: .relaxed), node != 0 {
      if version(node).pointee.hash == hash {
        if version(node).pointee.sequence == sequence { found = (link, node) } else { other = node }
      }
      link = next(node)
    }
    guard let found else { return nil }
    let removed = version(found.node).pointee
    found.link.pointee.store(next(found.node).pointee.load(ordering: .relaxed), ordering: .releasing)
    arena.retire(found.node, Self.nodeSize)
    nodeCount.subtract(1, ordering: .relaxed)
    if removed.isOfDeletedRow, other != 0 { version(other).pointee.isOfDeletedRow = true }
    return (removed, removed.isOfDeletedRow && other == 0)
  }

  func version(_ hash: UInt64, sequence: UInt64) -> Version? {
    var node = head(hash, in: current).pointee.load(ordering: .relaxed)
    while node != 0 {
      let version = version(node).pointee
      if version.hash == hash, version.sequence == sequence { return version }
      node = next(node).pointee.load(ordering: .relaxed)
    }
    return nil
  }

  /// The versions of a keyspace that were the newest of their rows at `sequence`. For a reader that has pinned the epoch.
  func addresses(_ keyspace: UInt32, at sequence: UInt64) -> [UInt64] {
    var addresses: [UInt64] = []
    let memory = current
    for bucket in 0...memory.load(as: UInt64.self) {
      var node = head(bucket, in: memory).pointee.load(ordering: .acquiring)
      while node != 0 {
        let version = version(node)
        if version.pointee.keyspace == keyspace, version.pointee.sequence <= sequence,
          sequence < version.pointee.supersededBy
        {
          addresses.append(version.pointee.address)
        }
        node = next(node).pointee.load(ordering: .acquiring)
      }
    }
    return addresses
  }
}
