import CCairnPlatform
import Synchronization

/// A leaf of the ordered index, 1 KiB. For each row it holds the 8 bytes of the key that follow the prefix shared by
/// all keys of the leaf, and the row's hash.
///
///     0  counts (sorted, and appended after them << 16)   4  length of the shared prefix   6  level, 0   8  capacity
///     32 heads × capacity   hashes × capacity   …   the prefix at the end
///
/// Entries are written once, after the existing ones, and published with the counts; up to `maximumAppended` of them
/// may be out of order. Any other change makes a new leaf. A leaf of zeros is empty and full.
@safe struct Leaf {
  static let size = 1024
  static let headerSize = 32
  static let maximumAppended = 8
  static let maximumPrefix = 240
  /// The number of entries of a leaf without a prefix; no leaf has more.
  static let maximumCapacity = (size - headerSize) / 16

  struct Entry {
    var head: UInt64
    var hash: RowHash
  }

  let base: UnsafeMutableRawPointer

  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) { unsafe self.base = unsafe base }

  static func capacity(prefix: Int) -> Int { (size - headerSize - Format.padded(prefix)) / 16 }

  @inline(__always)
  private var counts: UnsafeMutablePointer<Atomic<UInt32>> { unsafe base.assumingMemoryBound(to: Atomic<UInt32>.self) }

  @inline(__always)
  func loadCounts() -> (sorted: Int, appended: Int) {
    let word = unsafe counts.pointee.load(ordering: .acquiring)
    return (Int(word & 0xFFFF), Int(word >> 16))
  }

  @inline(__always)
  func storeCounts(sorted: Int, appended: Int) {
    unsafe counts.pointee.store(UInt32(sorted | appended << 16), ordering: .releasing)
  }

  @inline(__always)
  var capacity: Int { unsafe Int(base.load(fromByteOffset: 8, as: UInt32.self)) }

  @inline(__always)
  var prefix: UnsafeRawBufferPointer {
    let length = unsafe Int(base.load(fromByteOffset: 4, as: UInt16.self))
    return unsafe UnsafeRawBufferPointer(start: base + (Self.size &- Format.padded(length)), count: length)
  }

  @inline(__always)
  subscript(_ index: Int) -> Entry {
    let heads = unsafe base + Self.headerSize
    return unsafe Entry(
      head: heads.load(fromByteOffset: index &* 8, as: UInt64.self),
      hash: heads.load(fromByteOffset: (capacity &+ index) &* 8, as: RowHash.self))
  }

  /// Prefetches the whole leaf.
  func prefetch() {
    for line in 0..<Self.size / 64 { unsafe cairn_prefetch(base + line &* 64) }
  }

  /// The heads and the hashes, each in an array.
  var columns: (heads: UnsafePointer<UInt64>, hashes: UnsafePointer<RowHash>) {
    let heads = unsafe UnsafePointer((base + Self.headerSize).assumingMemoryBound(to: UInt64.self))
    return unsafe (heads, UnsafePointer((base + Self.headerSize + capacity &* 8).assumingMemoryBound(to: RowHash.self)))
  }

  @inline(__always)
  func write(_ entry: Entry, at index: Int) {
    let heads = unsafe base + Self.headerSize
    unsafe heads.storeBytes(of: entry.head, toByteOffset: index &* 8, as: UInt64.self)
    unsafe heads.storeBytes(of: entry.hash, toByteOffset: (capacity &+ index) &* 8, as: RowHash.self)
  }

  /// Whether the lengths and counts in its header fit into the leaf.
  var isSound: Bool {
    let length = unsafe Int(base.load(fromByteOffset: 4, as: UInt16.self))
    let (sorted, appended) = loadCounts()
    return length <= Self.maximumPrefix && capacity == Self.capacity(prefix: length) && sorted + appended <= capacity
      && appended <= Self.maximumAppended
  }

  /// Whether the heads of the sorted entries ascend; equal ones may follow each other.
  var isAscending: Bool {
    let heads = unsafe columns.heads
    var isAscending = true
    for index in 1..<max(1, loadCounts().sorted) {
      if unsafe heads[index &- 1] > heads[index] { isAscending = false }
    }
    return isAscending
  }

  /// Initializes fresh memory with `entries`, which are in order.
  func initialize(_ entries: UnsafeMutableBufferPointer<Entry>, prefix: UnsafeRawBufferPointer) {
    unsafe base.bindMemory(to: Atomic<UInt32>.self, capacity: 1).initialize(to: Atomic(0))
    unsafe base.storeBytes(of: UInt16(prefix.count), toByteOffset: 4, as: UInt16.self)
    unsafe base.storeBytes(of: 0, toByteOffset: 6, as: UInt16.self)
    unsafe base.storeBytes(of: UInt32(Self.capacity(prefix: prefix.count)), toByteOffset: 8, as: UInt32.self)
    if unsafe !prefix.isEmpty {
      unsafe UnsafeMutableRawBufferPointer(start: base + Self.size - Format.padded(prefix.count), count: prefix.count)
        .copyMemory(from: prefix)
    }
    for index in entries.indices { unsafe write(entries[index], at: index) }
    storeCounts(sorted: entries.count, appended: 0)
  }
}

/// An inner node of the ordered index: children and the separators between them. A separator is above every key of the
/// child to its left and at or below every key of the child to its right. Nothing but the children's addresses ever
/// changes.
///
///     0  –   6  level   8  number of children   12  size   16  length of the shared prefix
///     32 heads × (n − 1)   lengths × (n − 1)   tails × (n − 1)   children × n   prefix   tails
@safe struct Inner {
  static let headerSize = 32
  static let maximumChildren = 100

  let base: UnsafeMutableRawPointer

  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) { unsafe self.base = unsafe base }

  @inline(__always)
  static func level(_ node: UnsafeMutableRawPointer) -> Int { unsafe Int(node.load(fromByteOffset: 6, as: UInt8.self)) }

  @inline(__always)
  var count: Int { unsafe Int(base.load(fromByteOffset: 8, as: UInt32.self)) }
  @inline(__always)
  var size: Int { unsafe Int(base.load(fromByteOffset: 12, as: UInt32.self)) }
  @inline(__always)
  private var heads: UnsafeMutableRawPointer { unsafe base + Self.headerSize }
  @inline(__always)
  private var lengths: UnsafeMutableRawPointer { unsafe heads + 8 &* (count &- 1) }
  @inline(__always)
  private var tails: UnsafeMutableRawPointer { unsafe lengths + 4 &* (count &- 1) }
  @inline(__always)
  private var children: UnsafeMutablePointer<Atomic<UInt32>> {
    unsafe (tails + 4 &* (count &- 1)).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  @inline(__always)
  var prefix: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(children + count), count: Int(base.load(fromByteOffset: 16, as: UInt32.self)))
  }

  @inline(__always)
  func child(_ index: Int) -> UInt32 { unsafe children[index].load(ordering: .acquiring) }

  @inline(__always)
  func setChild(_ index: Int, _ node: UInt32) { unsafe children[index].store(node, ordering: .releasing) }

  private func length(_ index: Int) -> Int { unsafe Int(lengths.load(fromByteOffset: index &* 4, as: UInt32.self)) }

  /// Whether the lengths and offsets in the node fit into the `available` bytes.
  func isSound(available: Int) -> Bool {
    guard (1...Self.maximumChildren).contains(count), size <= available else { return false }
    let fixed = Self.size(children: count, prefix: 0, tails: 0)
    let prefixLength = unsafe Int(base.load(fromByteOffset: 16, as: UInt32.self))
    guard fixed <= size, prefixLength <= size - fixed, Self.rounded(size) <= available else { return false }
    return (0..<count - 1).allSatisfy { index in
      let start = unsafe Int(tails.load(fromByteOffset: index &* 4, as: UInt32.self))
      return length(index) >= prefixLength && start <= size && max(0, length(index) - prefixLength - 8) <= size - start
    }
  }

  /// The bytes of a separator after the prefix and its head.
  private func tail(_ index: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: base + Int(tails.load(fromByteOffset: index &* 4, as: UInt32.self)),
      count: max(0, length(index) &- prefix.count &- 8))
  }

  func separator(_ index: Int) -> [UInt8] {
    let length = length(index)
    var bytes = unsafe Array(prefix)
    bytes.reserveCapacity(length)
    unsafe withUnsafeBytes(of: heads.load(fromByteOffset: index &* 8, as: UInt64.self).bigEndian) {
      unsafe bytes.append(contentsOf: $0.prefix(length - bytes.count))
    }
    unsafe bytes.append(contentsOf: tail(index))
    return bytes
  }

  /// Whether each separator is above the one before it.
  var isAscending: Bool {
    let heads = unsafe UnsafePointer(heads.assumingMemoryBound(to: UInt64.self))
    return (1..<max(1, count - 1)).allSatisfy { index in
      unsafe heads[index - 1] < heads[index]
        || heads[index - 1] == heads[index] && separator(index - 1).lexicographicallyPrecedes(separator(index))
    }
  }

  /// The child whose keys may include `key`; with `below`, the child that may hold the last key before it.
  @inline(__always)
  func childIndex(_ key: UnsafeRawBufferPointer, below: Bool) -> Int {
    let prefix = unsafe prefix
    if unsafe !prefix.isEmpty {
      let order = unsafe key.slice(0, min(key.count, prefix.count)).order(prefix)
      if order != 0 { return order < 0 ? 0 : count &- 1 }
    }
    let head = unsafe key.head(prefix.count)
    let heads = unsafe UnsafePointer(heads.assumingMemoryBound(to: UInt64.self))
    // The first separator whose head isn't below the key's.
    var low = 0
    var high = count &- 1
    while low < high {
      let middle = (low &+ high) >> 1
      if unsafe heads[middle] < head { low = middle &+ 1 } else { high = middle }
    }
    while low < count &- 1, unsafe heads[low] == head {
      let order = unsafe orderBehindHead(key, low, prefix.count)
      if order < 0 || (below && order == 0) { break }
      low &+= 1
    }
    return low
  }

  /// The order of a key and a separator that are equal up to the end of the head.
  private func orderBehindHead(_ key: UnsafeRawBufferPointer, _ index: Int, _ prefixLength: Int) -> Int {
    let length = length(index)
    if min(key.count, length) <= prefixLength + 8 { return key.count - length }
    return unsafe key.slice(prefixLength + 8, key.count).order(tail(index))
  }

  /// Rounds up to one of a few sizes, so that freed nodes can be reused.
  static func rounded(_ size: Int) -> Int {
    var rounded = Leaf.size
    while rounded < size { rounded *= 2 }
    return rounded
  }

  /// Adds a node to `sink`, and returns its address.
  static func add<Sink: NodeSink>(
    level: Int, _ children: [UInt32], _ separators: [[UInt8]], to sink: inout Sink
  ) throws(Sink.Failure) -> UInt32 {
    var prefix = 0
    if let first = separators.first, let last = separators.last {
      prefix = unsafe first.withUnsafeBytes { first in unsafe last.withUnsafeBytes { unsafe first.sharedPrefix($0) } }
    }
    let tails = separators.reduce(0) { $0 + max(0, $1.count - prefix - 8) }
    let size = size(children: children.count, prefix: prefix, tails: tails)
    return try unsafe sink.add(rounded(size)) { memory in
      unsafe Inner(memory).initialize(
        level: level, children: children, separators: separators, prefixLength: prefix, size: size)
    }
  }

  static func size(children: Int, prefix: Int, tails: Int) -> Int {
    headerSize + 16 * (children - 1) + 4 * children + prefix + tails
  }

  /// Initializes fresh memory of `size(…)` bytes. All `separators` share their first `prefixLength` bytes.
  func initialize(level: Int, children nodes: [UInt32], separators: [[UInt8]], prefixLength: Int, size: Int) {
    unsafe base.storeBytes(of: 0, as: UInt32.self)
    unsafe base.storeBytes(of: UInt32(prefixLength), toByteOffset: 16, as: UInt32.self)
    unsafe base.storeBytes(of: UInt8(level), toByteOffset: 6, as: UInt8.self)
    unsafe base.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
    unsafe base.storeBytes(of: UInt32(nodes.count), toByteOffset: 8, as: UInt32.self)
    unsafe base.storeBytes(of: UInt32(size), toByteOffset: 12, as: UInt32.self)
    let children = unsafe UnsafeMutableRawPointer(children).bindMemory(to: Atomic<UInt32>.self, capacity: nodes.count)
    for index in nodes.indices { unsafe (children + index).initialize(to: Atomic(nodes[index])) }
    var tail = unsafe UnsafeMutableRawPointer(children + nodes.count)
    if let first = separators.first, prefixLength > 0 {
      unsafe first.withUnsafeBytes {
        unsafe tail.copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: prefixLength)
      }
    }
    unsafe tail += prefixLength
    for (index, separator) in separators.enumerated() {
      unsafe separator.withUnsafeBytes { bytes in
        unsafe heads.storeBytes(of: bytes.head(prefixLength), toByteOffset: index * 8, as: UInt64.self)
        unsafe lengths.storeBytes(of: UInt32(bytes.count), toByteOffset: index * 4, as: UInt32.self)
        unsafe tails.storeBytes(of: UInt32(tail - base), toByteOffset: index * 4, as: UInt32.self)
        if bytes.count > prefixLength + 8 {
          let rest = unsafe bytes.slice(prefixLength + 8, bytes.count)
          unsafe UnsafeMutableRawBufferPointer(start: tail, count: rest.count).copyMemory(from: rest)
          unsafe tail += rest.count
        }
      }
    }
  }

  /// Initializes fresh memory of `old.size + 20 + tail` bytes with the contents of `old` and one more child, to the
  /// right of child `index`. The separator between the two begins with the prefix.
  func initialize(
    _ old: Inner, inserting separator: UnsafeRawBufferPointer, _ node: UInt32, after index: Int, size: Int
  ) {
    let count = old.count
    let prefix = unsafe old.prefix
    unsafe base.copyMemory(from: old.base, byteCount: Self.headerSize)
    unsafe base.storeBytes(of: UInt32(count + 1), toByteOffset: 8, as: UInt32.self)
    unsafe base.storeBytes(of: UInt32(size), toByteOffset: 12, as: UInt32.self)

    func copy(_ target: UnsafeMutableRawPointer, _ source: UnsafeMutableRawPointer, stride: Int) {
      unsafe target.copyMemory(from: source, byteCount: index * stride)
      unsafe (target + (index + 1) * stride).copyMemory(
        from: source + index * stride, byteCount: (count - 1 - index) * stride)
    }
    unsafe copy(heads, old.heads, stride: 8)
    unsafe copy(lengths, old.lengths, stride: 4)
    unsafe copy(tails, old.tails, stride: 4)
    unsafe heads.storeBytes(of: separator.head(prefix.count), toByteOffset: index * 8, as: UInt64.self)
    unsafe lengths.storeBytes(of: UInt32(separator.count), toByteOffset: index * 4, as: UInt32.self)

    let children = unsafe UnsafeMutableRawPointer(children).bindMemory(to: Atomic<UInt32>.self, capacity: count + 1)
    for position in 0...count {
      let child = position <= index ? old.child(position) : position == index + 1 ? node : old.child(position - 1)
      unsafe (children + position).initialize(to: Atomic(child))
    }

    let bytes = unsafe UnsafeMutableRawPointer(children + count + 1)
    let oldBytes = unsafe prefix.baseAddress.unsafelyUnwrapped
    let length = unsafe old.size - (oldBytes - UnsafeRawPointer(old.base))
    unsafe bytes.copyMemory(from: oldBytes, byteCount: length)
    let moved = unsafe (bytes - base) - (oldBytes - UnsafeRawPointer(old.base))
    for position in 0..<count where position != index {
      let tail = unsafe tails.load(fromByteOffset: position * 4, as: UInt32.self)
      unsafe tails.storeBytes(of: UInt32(Int(tail) + moved), toByteOffset: position * 4, as: UInt32.self)
    }
    unsafe tails.storeBytes(of: UInt32(bytes + length - base), toByteOffset: index * 4, as: UInt32.self)
    if separator.count > prefix.count + 8 {
      let rest = unsafe separator.slice(prefix.count + 8, separator.count)
      unsafe UnsafeMutableRawBufferPointer(start: bytes + length, count: rest.count).copyMemory(from: rest)
    }
  }
}
