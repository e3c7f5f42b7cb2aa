import CCairnPlatform
import Synchronization

/// The rows of one keyspace in the order of their keys.
///
/// A B+tree whose leaves hold 16 bytes a row and no keys: if eight bytes do not decide the order, the records do. Nodes
/// are copied on write and published by one store into their parent, so that readers need no lock. The separators and
/// the shared prefixes are after Bayer and Unterauer, "Prefix B-trees", 1977. Overwriting a row does not touch the
/// tree.
@safe final class OrderedIndex: @unchecked Sendable {
  let arena: Arena
  private let locator: RowLocator
  private let root: Atomic<UInt32>
  /// The path from the root to the leaf that a change is about. For the writer only.
  private let path: UnsafeMutablePointer<Step>

  private struct Step {
    var node: UInt32
    var child: Int
  }

  /// More levels than a tree can have with the addresses there are.
  static let maximumHeight = 32

  /// Begins with nodes that are in the arena already; without a root it takes nothing from the arena before the first
  /// row.
  init(arena: Arena, locator: RowLocator, root node: UInt32 = Arena.blank) {
    self.arena = arena
    self.locator = locator
    root = Atomic(node)
    unsafe path = .allocate(capacity: Self.maximumHeight)
  }

  deinit { unsafe path.deallocate() }

  // MARK: Reading

  /// The separator at which a leaf's keys end. Valid while the era is pinned.
  @safe struct Fence {
    fileprivate let node: Inner
    fileprivate let separator: Int

    var bytes: [UInt8] { node.separator(separator) }
  }

  /// Reads the leaf that holds the first keys at or after `bound`, or with `below` the last keys before it; if `bound`
  /// is nil, the first leaf or the last. Puts its entries into `entries` in order, and returns the fence at which
  /// the neighbouring leaf in that direction begins, or nil if there is none. For a reader that has pinned the era;
  /// for one that is going on beyond this leaf, the next leaf is prefetched if it has the same parent.
  func leaf(
    at bound: [UInt8]?, below: Bool, goingOn: Bool, into entries: inout LeafEntries
  ) throws(StoreError) -> Fence? {
    var node = root.load(ordering: .acquiring)
    var fence: Fence?
    while unsafe Inner.level(arena[node]) > 0 {
      let inner = unsafe Inner(arena[node])
      let last = inner.count - 1
      let child: Int
      if let bound {
        child = unsafe bound.withUnsafeBytes { unsafe inner.childIndex($0, below: below) }
      } else {
        child = below ? last : 0
      }
      if below, child > 0 { fence = Fence(node: inner, separator: child - 1) }
      if !below, child < last { fence = Fence(node: inner, separator: child) }
      node = inner.child(child)
    }
    let leaf = unsafe Leaf(arena[node])
    leaf.prefetch()
    try gather(leaf, into: &entries)
    if goingOn, let fence, unsafe Inner.level(unsafe fence.node.base) == 1 {
      unsafe Leaf(arena[fence.node.child(below ? fence.separator : fence.separator + 1)]).prefetch()
    }
    if let bound { unsafe bound.withUnsafeBytes { unsafe trim(&entries, leaf.prefix, $0, below: below) } }
    return fence
  }

  /// Reads the leaf that holds the first keys at or after `bound`, without what comes before `bound`. Also returns the
  /// prefix of the leaf.
  func leaf(
    from bound: [UInt8]?, into entries: inout LeafEntries
  ) throws(StoreError) -> (prefix: UnsafeRawBufferPointer, fence: Fence?) {
    var node = root.load(ordering: .acquiring)
    var lower: Fence?
    var upper: Fence?
    while unsafe Inner.level(arena[node]) > 0 {
      let inner = unsafe Inner(arena[node])
      let child = bound.map { unsafe $0.withUnsafeBytes { unsafe inner.childIndex($0, below: false) } } ?? 0
      if child > 0 { lower = Fence(node: inner, separator: child - 1) }
      if child < inner.count - 1 { upper = Fence(node: inner, separator: child) }
      node = inner.child(child)
    }
    let leaf = unsafe Leaf(arena[node])
    try gather(leaf, into: &entries)
    if let bound, lower?.bytes != bound {
      // Leaves have merged, so this one may begin before the bound.
      while entries.count > 0 {
        if let found = unsafe try locator.find(entries[0].hash),
          unsafe bound.withUnsafeBytes({ unsafe found.record.key.order($0) }) >= 0
        {
          break
        }
        entries.removeFirst(1)
      }
    }
    return unsafe (leaf.prefix, upper)
  }

  /// Removes entries that are certainly on the wrong side of the bound.
  private func trim(
    _ entries: inout LeafEntries, _ prefix: UnsafeRawBufferPointer, _ bound: UnsafeRawBufferPointer, below: Bool
  ) {
    let order = unsafe bound.slice(0, min(bound.count, prefix.count)).order(prefix)
    if order != 0 {
      if (order < 0) == below { entries.count = 0 }
      return
    }
    let head = unsafe bound.head(prefix.count)
    if below {
      while entries.count > 0, entries[entries.count - 1].head > head { entries.count -= 1 }
    } else {
      entries.removeFirst(entries.firstIndex(atOrAbove: head))
    }
  }

  /// Collects a leaf's entries in order.
  private func gather(_ leaf: Leaf, into entries: inout LeafEntries) throws(StoreError) {
    let (sorted, appended) = leaf.loadCounts()
    entries.copy(leaf, sorted)
    for index in sorted..<sorted + appended { try insert(leaf[index], into: &entries) }
  }

  /// Inserts an entry unless it is there already. Where heads are equal, it goes after the last entry that is known to
  /// come before it. A row that was removed since the leaf was written cannot be compared, and is skipped.
  private func insert(_ entry: Leaf.Entry, into entries: inout LeafEntries) throws(StoreError) {
    var position = entries.firstIndex(atOrAbove: entry.head)
    var index = position
    while index < entries.count, entries[index].head == entry.head {
      if entries[index].hash == entry.hash { return }
      let isBefore = try isBefore(entries[index].hash, entry.hash)
      if isBefore == false { break }
      index += 1
      if isBefore == true { position = index }
    }
    entries.insert(entry, at: position)
  }

  /// Compares the keys in the records; nil if one of the rows was removed.
  private func isBefore(_ first: RowHash, _ second: RowHash) throws(StoreError) -> Bool? {
    guard let first = unsafe try locator.find(first), let second = unsafe try locator.find(second) else { return nil }
    return unsafe first.record.key.order(second.record.key) < 0
  }

  // MARK: Changing (the writer's)

  /// How many bytes the arena must have for inserting `newRows` rows with keys of at most `longestKey` bytes: for new
  /// leaves, and for new nodes above those that split.
  static func memory(_ newRows: Int, longestKey: Int) -> Int {
    min(newRows, 4096) * Leaf.size + newRows * 256 + (64 << 10) + 128 * longestKey
  }

  /// Walks down to a level, by default to the leaf, without looking at the node there, and records the path.
  @inline(__always)
  private func descend(_ key: UnsafeRawBufferPointer, to level: Int = 0) -> (node: UInt32, depth: Int) {
    var depth = 0
    var node = root.load(ordering: .relaxed)
    for _ in 0..<max(0, unsafe Inner.level(arena[node]) &- level) {
      let inner = unsafe Inner(arena[node])
      let child = unsafe inner.childIndex(key, below: false)
      unsafe path[depth] = Step(node: node, child: child)
      depth &+= 1
      node = inner.child(child)
    }
    return (node, depth)
  }

  /// Prefetches the node above the leaf that a key belongs to: the lines that are looked at first. Returns the node,
  /// for `prefetchLeaf`.
  @inline(__always)
  func prefetchInner(_ key: UnsafeRawBufferPointer) -> UInt32 {
    let (node, _) = unsafe descend(key, to: 1)
    let inner = unsafe arena[node]
    for line in 0..<4 { unsafe cairn_prefetch(inner + line &* 192) }
    return node
  }

  /// Prefetches the leaf that a key belongs to: its header, and the lines of the next entry and its neighbours. Nothing
  /// may have changed since `prefetchInner` returned the node.
  @inline(__always)
  func prefetchLeaf(_ key: UnsafeRawBufferPointer, below node: UInt32) {
    var leaf = unsafe arena[node]
    if unsafe Inner.level(leaf) > 0 {
      let inner = unsafe Inner(leaf)
      unsafe leaf = unsafe arena[inner.child(inner.childIndex(key, below: false))]
    }
    unsafe cairn_prefetch(leaf)
    for line in 4..<8 {
      unsafe cairn_prefetch(leaf + line &* 64)
      unsafe cairn_prefetch(leaf + (line &+ 8) &* 64)
    }
  }

  /// Inserts a row that the hash index knows already and that is not in the tree.
  func insert(_ key: UnsafeRawBufferPointer, _ hash: RowHash) throws(StoreError) {
    let (node, depth) = unsafe descend(key)
    let leaf = unsafe Leaf(arena[node])
    let prefix = unsafe leaf.prefix
    if key.count >= prefix.count, unsafe key.slice(0, prefix.count).equals(prefix) {
      let entry = unsafe Leaf.Entry(head: key.head(prefix.count), hash: hash)
      let (sorted, appended) = leaf.loadCounts()
      if sorted + appended < leaf.capacity {
        if appended == 0, sorted == 0 || leaf[sorted - 1].head < entry.head {
          leaf.write(entry, at: sorted)
          leaf.storeCounts(sorted: sorted + 1, appended: 0)
          return
        }
        if appended < Leaf.maximumAppended {
          leaf.write(entry, at: sorted + appended)
          leaf.storeCounts(sorted: sorted, appended: appended + 1)
          return
        }
      }
    }
    try LeafEntries.with { (entries) throws(StoreError) in
      try gather(leaf, into: &entries)
      let shared = unsafe key.slice(0, min(key.count, prefix.count)).sharedPrefix(prefix)
      if shared < prefix.count { unsafe entries.shorten(prefix, to: shared) }
      try unsafe insert(Leaf.Entry(head: key.head(shared), hash: hash), into: &entries)
      let isAppend = entries[entries.count - 1].hash == hash && isLastLeaf(depth)
      try unsafe replaceLeaf(node, entries, prefix.slice(0, shared), isAppend: isAppend, depth: depth)
    }
  }

  /// Inserts rows that the hash index knows already, in the order of their keys, a leaf at a time; skips those that the
  /// tree has. Calls `row` for each of them more than once, and in order.
  func insert(
    _ count: Int, _ row: (Int) throws(StoreError) -> (key: UnsafeRawBufferPointer, hash: RowHash)
  ) throws(StoreError) {
    var position = 0
    while position < count {
      let (node, depth) = unsafe descend(try row(position).key)
      let leaf = unsafe Leaf(arena[node])
      let upper = fence(depth)
      position = try LeafEntries.with { (entries) throws(StoreError) in
        try gather(leaf, into: &entries)
        let known = entries.count
        var shared = unsafe leaf.prefix.count
        var next = position
        // Leaves are filled to different degrees, so that they do not all split at the same time later.
        let degree = 10 + position / 64 % 6
        repeat {
          let (key, hash) = try unsafe row(next)
          if next > position, let upper, unsafe upper.withUnsafeBytes({ unsafe key.order($0) }) >= 0 { break }
          let common = unsafe key.slice(0, min(key.count, shared)).sharedPrefix(leaf.prefix.slice(0, shared))
          if common < shared {
            unsafe entries.shorten(leaf.prefix.slice(0, shared), to: common)
            shared = common
          }
          try unsafe insert(Leaf.Entry(head: key.head(shared), hash: hash), into: &entries)
          next += 1
        } while next < count && entries.count < Leaf.capacity(prefix: shared) * degree / 8
        if entries.count > known {
          try unsafe replaceLeaf(node, entries, leaf.prefix.slice(0, shared), isAppend: false, depth: depth)
        }
        return next
      }
    }
  }

  /// The separator that all keys of the leaf at the end of the path are below; nil for the last leaf.
  private func fence(_ depth: Int) -> [UInt8]? {
    for level in stride(from: depth - 1, through: 0, by: -1) {
      let step = unsafe path[level]
      let inner = unsafe Inner(arena[step.node])
      if step.child < inner.count - 1 { return inner.separator(step.child) }
    }
    return nil
  }

  private func isLastLeaf(_ depth: Int) -> Bool {
    (0..<depth).allSatisfy { unsafe path[$0].child == Inner(arena[path[$0].node]).count - 1 }
  }

  /// Replaces a leaf with one that holds `entries` or, if they don't fit, with two.
  private func replaceLeaf(
    _ node: UInt32, _ entries: LeafEntries, _ prefix: UnsafeRawBufferPointer, isAppend: Bool, depth: Int
  ) throws(StoreError) {
    let count = entries.count
    if count <= Leaf.capacity(prefix: prefix.count) {
      let leaf = try unsafe buildLeaf(entries[0..<count], prefix)
      replace(node, with: leaf, level: depth)
    } else {
      let middle = isAppend ? count - 1 : splitPoint(entries, capacity: Leaf.capacity(prefix: prefix.count))
      let separator = try unsafe separator(entries[middle - 1], entries[middle], prefix)
      let left = try unsafe buildLeaf(entries[0..<middle], prefix)
      let right = try unsafe buildLeaf(entries[middle..<count], prefix)
      split(node, left, separator, right, level: depth)
    }
    arena.retire(node, Leaf.size)
  }

  /// A position near the middle, between two entries with different heads if there are such.
  private func splitPoint(_ entries: LeafEntries, capacity: Int) -> Int {
    let middle = entries.count / 2
    for distance in 0...min(entries.count / 4, capacity - (entries.count + 1) / 2) {
      for point in [middle - distance, middle + distance] where entries[point - 1].head != entries[point].head {
        return point
      }
    }
    return middle
  }

  /// The shortest bytes that are above the key on the left and not above the key on the right.
  private func separator(
    _ left: Leaf.Entry, _ right: Leaf.Entry, _ prefix: UnsafeRawBufferPointer
  ) throws(StoreError) -> [UInt8] {
    if left.head != right.head {
      let shared = (left.head ^ right.head).leadingZeroBitCount / 8
      return unsafe Array(prefix) + withUnsafeBytes(of: right.head.bigEndian) { unsafe Array($0.prefix(shared + 1)) }
    }
    let leftKey = try unsafe key(left.hash)
    let rightKey = try unsafe key(right.hash)
    return unsafe Array(rightKey.prefix(leftKey.sharedPrefix(rightKey) + 1))
  }

  private func key(_ hash: RowHash) throws(StoreError) -> UnsafeRawBufferPointer {
    guard let found = try unsafe locator.find(hash) else {
      // Only a checkpoint with wrong contents leads here.
      throw StoreError(.damaged, "a row of the ordered index has no slot")
    }
    return unsafe found.record.key
  }

  /// Builds a leaf of entries in order. If heads are equal and the keys share more than the prefix, the leaf gets a
  /// longer prefix, and the heads start after that.
  private func buildLeaf(
    _ entries: UnsafeMutableBufferPointer<Leaf.Entry>, _ prefix: UnsafeRawBufferPointer
  ) throws(StoreError) -> UInt32 {
    var prefix = unsafe prefix
    if unsafe hasTies(entries) {
      let first = try unsafe key(entries[0].hash)
      let last = try unsafe key(entries[entries.count - 1].hash)
      var shared = unsafe min(first.sharedPrefix(last), Leaf.maximumPrefix)
      while shared > prefix.count, Leaf.capacity(prefix: shared) < entries.count + 4 { shared -= 8 }
      if shared > prefix.count {
        for index in entries.indices { unsafe entries[index].head = try unsafe key(entries[index].hash).head(shared) }
        unsafe prefix = unsafe first.slice(0, shared)
      }
    }
    let node = arena.allocate(Leaf.size)
    unsafe Leaf(arena[node]).initialize(entries, prefix: prefix)
    return node
  }

  private func hasTies(_ entries: UnsafeMutableBufferPointer<Leaf.Entry>) -> Bool {
    guard entries.count > 1 else { return false }
    for index in 1..<entries.count where unsafe entries[index - 1].head == entries[index].head { return true }
    return false
  }

  /// Publishes a node in the place of another, which is `level` steps below the root.
  private func replace(_ old: UInt32, with new: UInt32, level: Int) {
    if level == 0 {
      root.store(new, ordering: .releasing)
    } else {
      let step = unsafe path[level - 1]
      unsafe Inner(arena[step.node]).setChild(step.child, new)
    }
  }

  /// Publishes two nodes in the place of one.
  private func split(_ old: UInt32, _ left: UInt32, _ separator: [UInt8], _ right: UInt32, level: Int) {
    guard level > 0 else {
      let height = unsafe Inner.level(arena[left]) + 1
      root.store(newInner(level: height, [left, right], [separator]), ordering: .releasing)
      return
    }
    let step = unsafe path[level - 1]
    let parent = unsafe Inner(arena[step.node])
    let count = parent.count
    let hasPrefix = unsafe separator.withUnsafeBytes {
      unsafe $0.count >= parent.prefix.count && $0.slice(0, parent.prefix.count).equals(parent.prefix)
    }
    if count < Inner.maximumChildren, hasPrefix {
      let size = unsafe parent.size + 20 + max(0, separator.count - parent.prefix.count - 8)
      let node = arena.allocate(Inner.rounded(size))
      let inner = unsafe Inner(arena[node])
      unsafe separator.withUnsafeBytes {
        unsafe inner.initialize(parent, inserting: $0, right, after: step.child, size: size)
      }
      inner.setChild(step.child, left)
      replace(step.node, with: node, level: level - 1)
    } else {
      var children = (0..<count).map { parent.child($0) }
      var separators = (0..<count - 1).map { parent.separator($0) }
      children[step.child] = left
      children.insert(right, at: step.child + 1)
      separators.insert(separator, at: step.child)
      publish(children, separators, inPlaceOf: step.node, level: level - 1)
    }
    arena.retire(step.node, Inner.rounded(parent.size))
  }

  /// Publishes an inner node or, if there are too many children, two.
  private func publish(_ children: [UInt32], _ separators: [[UInt8]], inPlaceOf old: UInt32, level: Int) {
    let height = unsafe Inner.level(arena[old])
    guard children.count > Inner.maximumChildren else {
      replace(old, with: newInner(level: height, children, separators), level: level)
      return
    }
    let middle = isLastLeaf(level + 1) ? children.count - 2 : children.count / 2
    let left = newInner(level: height, Array(children[..<middle]), Array(separators[..<(middle - 1)]))
    let right = newInner(level: height, Array(children[middle...]), Array(separators[middle...]))
    split(old, left, separators[middle - 1], right, level: level)
  }

  private func newInner(level: Int, _ children: [UInt32], _ separators: [[UInt8]]) -> UInt32 {
    var sink = ArenaSink(arena: arena)
    return Inner.add(level: level, children, separators, to: &sink)
  }

  /// Removes a row whose slot is still in the hash index.
  func remove(_ key: UnsafeRawBufferPointer, _ hash: RowHash) throws(StoreError) {
    let (node, depth) = unsafe descend(key)
    let leaf = unsafe Leaf(arena[node])
    try LeafEntries.with { (entries) throws(StoreError) in
      try gather(leaf, into: &entries)
      guard entries.remove(hash) else { return }
      if entries.count == 0, depth > 0 {
        removeChild(level: depth)
        arena.retire(node, Leaf.size)
      } else if entries.count < leaf.capacity / 4, try merge(node, entries, depth: depth) {
        return
      } else {
        try unsafe replaceLeaf(node, entries, leaf.prefix, isAppend: false, depth: depth)
      }
    }
  }

  /// Gives back all nodes; the tree is empty from then on.
  func clear() {
    let first = root.load(ordering: .relaxed)
    root.store(Arena.blank, ordering: .releasing)
    retire(first)
  }

  private func retire(_ node: UInt32) {
    guard unsafe Inner.level(arena[node]) > 0 else { return arena.retire(node, Leaf.size) }
    let inner = unsafe Inner(arena[node])
    for child in 0..<inner.count { retire(inner.child(child)) }
    arena.retire(node, Inner.rounded(inner.size))
  }

  /// Removes the child on the path from its parent, and parents that have no children left.
  private func removeChild(level: Int) {
    let step = unsafe path[level - 1]
    let parent = unsafe Inner(arena[step.node])
    let count = parent.count
    if count == 1 {
      if level == 1 {
        root.store(Arena.blank, ordering: .releasing)
      } else {
        removeChild(level: level - 1)
      }
    } else {
      var children = (0..<count).map { parent.child($0) }
      var separators = (0..<count - 1).map { parent.separator($0) }
      children.remove(at: step.child)
      separators.remove(at: min(step.child, count - 2))
      publishSmaller(children, separators, inPlaceOf: step.node, level: level - 1)
    }
    arena.retire(step.node, Inner.rounded(parent.size))
  }

  private func publishSmaller(_ children: [UInt32], _ separators: [[UInt8]], inPlaceOf old: UInt32, level: Int) {
    if level == 0, children.count == 1 {
      root.store(children[0], ordering: .releasing)
    } else {
      publish(children, separators, inPlaceOf: old, level: level)
    }
  }

  /// Merges the few `entries` of a leaf with those of a neighbour; returns false if both don't fit well into one leaf.
  private func merge(_ node: UInt32, _ entries: LeafEntries, depth: Int) throws(StoreError) -> Bool {
    guard depth > 0, case let step = unsafe path[depth - 1], case let parent = unsafe Inner(arena[step.node]),
      parent.count > 1
    else {
      return false
    }
    let count = parent.count
    let left = step.child == count - 1 ? step.child - 1 : step.child
    let neighbour = parent.child(left == step.child ? left + 1 : left)
    let leaf = unsafe Leaf(arena[node])
    let other = unsafe Leaf(arena[neighbour])
    let (sorted, appended) = other.loadCounts()
    let shared = unsafe leaf.prefix.sharedPrefix(other.prefix)
    guard entries.count + sorted + appended <= Leaf.capacity(prefix: shared) * 3 / 4 else { return false }

    let merged = try LeafEntries.with { (others) throws(StoreError) in
      try gather(other, into: &others)
      var entries = entries
      unsafe entries.shorten(leaf.prefix, to: shared)
      unsafe others.shorten(other.prefix, to: shared)
      if left == step.child {
        entries.append(others)
        return try unsafe buildLeaf(entries[0..<entries.count], leaf.prefix.slice(0, shared))
      } else {
        others.append(entries)
        return try unsafe buildLeaf(others[0..<others.count], leaf.prefix.slice(0, shared))
      }
    }

    var children = (0..<count).map { parent.child($0) }
    var separators = (0..<count - 1).map { parent.separator($0) }
    children[left] = merged
    children.remove(at: left + 1)
    separators.remove(at: left)
    publishSmaller(children, separators, inPlaceOf: step.node, level: depth - 1)
    arena.retire(node, Leaf.size)
    arena.retire(neighbour, Leaf.size)
    arena.retire(step.node, Inner.rounded(parent.size))
    return true
  }
}
