import CCairnPlatform
import Synchronization

/// The rows of one keyspace in the order of their keys.
///
/// A B+tree whose leaves hold 16 bytes a row and no keys: where eight bytes do not decide, the record does. Nodes are copied on write and
/// published by one store into their parent, so that readers need no lock (after Bayer and Unterauer, "Prefix B-trees", 1977, for the separators and
/// the shared prefixes). An overwrite does not touch it.
final class OrderedIndex: @unchecked Sendable {
  let arena: Arena
  private let locator: RowLocator
  private let root: Atomic<UInt32>
  /// The way from the root to the leaf a change is about.
  private var path: [(node: UInt32, child: Int)] = []
  private var entries: [Leaf.Entry] = []

  init(arena: Arena, locator: RowLocator) {
    self.arena = arena
    self.locator = locator
    root = Atomic(0)
    path.reserveCapacity(16)
    entries.reserveCapacity(Leaf.maximumCapacity + 1)
    root.store(newLeaf([], prefix: []), ordering: .releasing)
  }

  // MARK: Reading

  /// The leaf that holds the first keys at or behind `bound`, or with `below` the last ones before it; `bound` nil stands for the beginning or
  /// the end. Gives its entries in order, and returns the bound at which the neighbouring leaf in that direction begins; nil if there is none.
  /// For a reader that has pinned the epoch.
  func leaf(
    at bound: [UInt8]?, below: Bool, into entries: inout [Leaf.Entry]
  ) throws(StoreError) -> [UInt8]? {
    var node = root.load(ordering: .acquiring)
    var fence: (node: Inner, separator: Int)?
    while Inner.level(arena[node]) > 0 {
      let inner = Inner(arena[node])
      let last = inner.count - 1
      let child: Int
      if let bound {
        child = bound.withUnsafeBytes { inner.childIndex($0, below: below) }
      } else {
        child = below ? last : 0
      }
      if below, child > 0 { fence = (inner, child - 1) }
      if !below, child < last { fence = (inner, child) }
      node = inner.child(child)
    }
    let leaf = Leaf(arena[node])
    try gather(leaf, into: &entries)
    if let bound { bound.withUnsafeBytes { trim(&entries, leaf.prefix, $0, below: below) } }
    return fence.map { $0.node.separator($0.separator) }
  }

  /// Takes away entries that are surely on the wrong side of the bound.
  private func trim(
    _ entries: inout [Leaf.Entry], _ prefix: UnsafeRawBufferPointer, _ bound: UnsafeRawBufferPointer, below: Bool
  ) {
    let order = bound.slice(0, min(bound.count, prefix.count)).order(prefix)
    if order != 0 {
      if (order < 0) == below { entries.removeAll(keepingCapacity: true) }
      return
    }
    let head = bound.head(prefix.count)
    if below {
      entries.removeLast(entries.count - (entries.firstIndex { $0.head > head } ?? entries.count))
    } else {
      entries.removeFirst(entries.firstIndex { $0.head >= head } ?? entries.count)
    }
  }

  /// A leaf's entries in order.
  private func gather(_ leaf: Leaf, into entries: inout [Leaf.Entry]) throws(StoreError) {
    let (sorted, appended) = leaf.loadCounts()
    entries.removeAll(keepingCapacity: true)
    for index in 0..<sorted { entries.append(leaf[index]) }
    for index in sorted..<sorted + appended { try insert(leaf[index], into: &entries) }
  }

  private func insert(_ entry: Leaf.Entry, into entries: inout [Leaf.Entry]) throws(StoreError) {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low &+ high) >> 1
      let other = entries[middle]
      let isBefore = other.head != entry.head ? other.head < entry.head : try isBefore(other.hash, entry.hash)
      if isBefore { low = middle &+ 1 } else { high = middle }
    }
    entries.insert(entry, at: low)
  }

  /// Asks the records. A row that has gone meanwhile may stand anywhere.
  private func isBefore(_ first: UInt64, _ second: UInt64) throws(StoreError) -> Bool {
    guard let first = try locator.find(first), let second = try locator.find(second) else { return false }
    return first.record.key.order(second.record.key) < 0
  }

  // MARK: Changing (the writer's)

  @inline(__always)
  private func descend(_ key: UnsafeRawBufferPointer) -> UInt32 {
    path.removeAll(keepingCapacity: true)
    var node = root.load(ordering: .relaxed)
    while case let memory = arena[node], Inner.level(memory) > 0 {
      let inner = Inner(memory)
      let child = inner.childIndex(key, below: false)
      path.append((node, child))
      node = inner.child(child)
    }
    return node
  }

  /// Brings the leaf that a key belongs to into the cache.
  func prefetch(_ key: UnsafeRawBufferPointer) {
    let leaf = arena[descend(key)]
    for line in 0..<6 { cairn_prefetch(leaf + line &* 64) }
  }

  /// Adds a row that the hash index knows already and that is not in the tree.
  func insert(_ key: UnsafeRawBufferPointer, _ hash: UInt64) throws(StoreError) {
    let node = descend(key)
    let leaf = Leaf(arena[node])
    let prefix = leaf.prefix
    if key.count >= prefix.count, key.slice(0, prefix.count).equals(prefix) {
      let entry = Leaf.Entry(head: key.head(prefix.count), hash: hash)
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
    try gather(leaf, into: &entries)
    let shared = key.slice(0, min(key.count, prefix.count)).sharedPrefix(prefix)
    if shared < prefix.count { shorten(&entries, prefix, to: shared) }
    let kept = prefix.slice(0, shared)
    let entry = Leaf.Entry(head: key.head(shared), hash: hash)
    try insert(entry, into: &entries)
    try replaceLeaf(node, kept, isAppend: entries.last?.hash == hash && path.allSatisfy { isLastChild($0) })
  }

  private func isLastChild(_ step: (node: UInt32, child: Int)) -> Bool {
    step.child == Inner(arena[step.node]).count - 1
  }

  /// Puts `entries` in the place of a leaf: as one leaf or, where they don't fit, as two.
  private func replaceLeaf(_ node: UInt32, _ prefix: UnsafeRawBufferPointer, isAppend: Bool) throws(StoreError) {
    let count = entries.count
    if count <= Leaf.capacity(prefix: prefix.count) {
      let leaf = try buildLeaf(0..<count, prefix)
      replace(node, with: leaf, level: path.count)
    } else {
      let middle = isAppend ? count - 1 : splitPoint(count)
      let separator = try separator(middle, prefix)
      let left = try buildLeaf(0..<middle, prefix)
      let right = try buildLeaf(middle..<count, prefix)
      split(node, left, separator, right, level: path.count)
    }
    arena.retire(node, Leaf.size)
  }

  /// Near the middle, between two keys that their heads tell apart if there are such.
  private func splitPoint(_ count: Int) -> Int {
    let middle = count / 2
    for distance in 0..<count / 4 {
      for point in [middle - distance, middle + distance] where entries[point - 1].head != entries[point].head {
        return point
      }
    }
    return middle
  }

  /// The shortest bytes above the key before `index` and not above the key there.
  private func separator(_ index: Int, _ prefix: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8] {
    let left = entries[index - 1]
    let right = entries[index]
    if left.head != right.head {
      let shared = (left.head ^ right.head).leadingZeroBitCount / 8
      return Array(prefix) + withUnsafeBytes(of: right.head.bigEndian) { Array($0.prefix(shared + 1)) }
    }
    let leftKey = try key(left.hash)
    let rightKey = try key(right.hash)
    return Array(rightKey.prefix(leftKey.sharedPrefix(rightKey) + 1))
  }

  private func key(_ hash: UInt64) throws(StoreError) -> UnsafeRawBufferPointer {
    guard let found = try locator.find(hash) else { preconditionFailure("a row of the ordered index has no slot") }
    return found.record.key
  }

  private func newLeaf(_ entries: [Leaf.Entry], prefix: [UInt8]) -> UInt32 {
    let node = arena.allocate(Leaf.size)
    entries.withUnsafeBufferPointer { entries in
      prefix.withUnsafeBytes { Leaf(arena[node]).initialize(entries, prefix: $0) }
    }
    return node
  }

  /// A leaf of some of `entries`. Where heads tie, they start further behind, if the keys share more than the prefix.
  private func buildLeaf(_ range: Range<Int>, _ prefix: UnsafeRawBufferPointer) throws(StoreError) -> UInt32 {
    let node = arena.allocate(Leaf.size)
    var prefix = prefix
    if hasTies(range) {
      let first = try key(entries[range.lowerBound].hash)
      let last = try key(entries[range.upperBound - 1].hash)
      var shared = min(first.sharedPrefix(last), Leaf.maximumPrefix)
      while shared > prefix.count, Leaf.capacity(prefix: shared) < range.count + 4 { shared -= 8 }
      if shared > prefix.count {
        for index in range { entries[index].head = try key(entries[index].hash).head(shared) }
        prefix = first.slice(0, shared)
      }
    }
    entries.withUnsafeBufferPointer {
      Leaf(arena[node]).initialize(UnsafeBufferPointer(rebasing: $0[range]), prefix: prefix)
    }
    return node
  }

  private func hasTies(_ range: Range<Int>) -> Bool {
    guard range.count > 1 else { return false }
    for index in range.lowerBound + 1..<range.upperBound where entries[index - 1].head == entries[index].head { return true }
    return false
  }

  /// Heads as they are behind a shorter prefix.
  private func shorten(_ entries: inout [Leaf.Entry], _ prefix: UnsafeRawBufferPointer, to length: Int) {
    let dropped = prefix.count - length
    let front = prefix.head(length)
    for index in entries.indices {
      entries[index].head = dropped >= 8 ? front : front | entries[index].head >> (8 * UInt64(dropped))
    }
  }

  /// Publishes a node in the place of another, `level` steps below the root.
  private func replace(_ old: UInt32, with new: UInt32, level: Int) {
    if level == 0 {
      root.store(new, ordering: .releasing)
    } else {
      let step = path[level - 1]
      Inner(arena[step.node]).setChild(step.child, new)
    }
  }

  /// Publishes two nodes in the place of one.
  private func split(_ old: UInt32, _ left: UInt32, _ separator: [UInt8], _ right: UInt32, level: Int) {
    guard level > 0 else {
      let height = Inner.level(arena[left]) + 1
      root.store(newInner(level: height, [left, right], [separator]), ordering: .releasing)
      return
    }
    let step = path[level - 1]
    let parent = Inner(arena[step.node])
    let count = parent.count
    let hasPrefix = separator.withUnsafeBytes { $0.count >= parent.prefix.count && $0.slice(0, parent.prefix.count).equals(parent.prefix) }
    if count < Inner.maximumChildren, hasPrefix {
      let size = parent.size + 20 + max(0, separator.count - parent.prefix.count - 8)
      let node = arena.allocate(Self.rounded(size))
      let inner = Inner(arena[node])
      separator.withUnsafeBytes { inner.initialize(parent, inserting: $0, right, after: step.child, size: size) }
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
    arena.retire(step.node, Self.rounded(parent.size))
  }

  /// Publishes an inner node or, where there are too many children, two.
  private func publish(_ children: [UInt32], _ separators: [[UInt8]], inPlaceOf old: UInt32, level: Int) {
    let height = Inner.level(arena[old])
    guard children.count > Inner.maximumChildren else {
      replace(old, with: newInner(level: height, children, separators), level: level)
      return
    }
    let isLast = path[..<level].allSatisfy { isLastChild($0) } && path[level].child == Inner(arena[old]).count - 1
    let middle = isLast ? children.count - 2 : children.count / 2
    let left = newInner(level: height, Array(children[..<middle]), Array(separators[..<(middle - 1)]))
    let right = newInner(level: height, Array(children[middle...]), Array(separators[middle...]))
    split(old, left, separators[middle - 1], right, level: level)
  }

  private func newInner(level: Int, _ children: [UInt32], _ separators: [[UInt8]]) -> UInt32 {
    var prefix = 0
    if let first = separators.first, let last = separators.last {
      prefix = first.withUnsafeBytes { first in last.withUnsafeBytes { first.sharedPrefix($0) } }
    }
    let tails = separators.reduce(0) { $0 + max(0, $1.count - prefix - 8) }
    let size = Inner.size(children: children.count, prefix: prefix, tails: tails)
    let node = arena.allocate(Self.rounded(size))
    Inner(arena[node]).initialize(level: level, children: children, separators: separators, prefixLength: prefix, size: size)
    return node
  }

  /// Few sizes, so that freed nodes fit again.
  private static func rounded(_ size: Int) -> Int { (size + 511) & ~511 }

  /// Takes a row out. Its slot in the hash index is still there.
  func remove(_ key: UnsafeRawBufferPointer, _ hash: UInt64) throws(StoreError) {
    let node = descend(key)
    let leaf = Leaf(arena[node])
    try gather(leaf, into: &entries)
    guard let index = entries.firstIndex(where: { $0.hash == hash }) else { return }
    entries.remove(at: index)
    if entries.isEmpty, !path.isEmpty {
      removeChild(level: path.count)
      arena.retire(node, Leaf.size)
    } else if entries.count < leaf.capacity / 4, try merge(node) {
      return
    } else {
      try replaceLeaf(node, leaf.prefix, isAppend: false)
    }
  }

  /// Takes the child on the path out of its parent, and parents that have no children left.
  private func removeChild(level: Int) {
    let step = path[level - 1]
    let parent = Inner(arena[step.node])
    let count = parent.count
    if count == 1 {
      if level == 1 {
        root.store(newLeaf([], prefix: []), ordering: .releasing)
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
    arena.retire(step.node, Self.rounded(parent.size))
  }

  private func publishSmaller(_ children: [UInt32], _ separators: [[UInt8]], inPlaceOf old: UInt32, level: Int) {
    if level == 0, children.count == 1 {
      root.store(children[0], ordering: .releasing)
    } else {
      publish(children, separators, inPlaceOf: old, level: level)
    }
  }

  /// Puts `entries`, which are few, together with a neighbour of the leaf they come from; false if both don't fit into one leaf well.
  private func merge(_ node: UInt32) throws(StoreError) -> Bool {
    guard let step = path.last else { return false }
    let parent = Inner(arena[step.node])
    let count = parent.count
    guard count > 1 else { return false }
    let left = step.child == count - 1 ? step.child - 1 : step.child
    let neighbour = parent.child(left == step.child ? left + 1 : left)
    let leaf = Leaf(arena[node])
    let other = Leaf(arena[neighbour])
    let (sorted, appended) = other.loadCounts()
    let shared = leaf.prefix.sharedPrefix(other.prefix)
    guard entries.count + sorted + appended <= Leaf.capacity(prefix: shared) * 3 / 4 else { return false }

    var others: [Leaf.Entry] = []
    try gather(other, into: &others)
    shorten(&entries, leaf.prefix, to: shared)
    shorten(&others, other.prefix, to: shared)
    entries = left == step.child ? entries + others : others + entries
    let merged = try buildLeaf(0..<entries.count, leaf.prefix.slice(0, shared))

    var children = (0..<count).map { parent.child($0) }
    var separators = (0..<count - 1).map { parent.separator($0) }
    children[left] = merged
    children.remove(at: left + 1)
    separators.remove(at: left)
    publishSmaller(children, separators, inPlaceOf: step.node, level: path.count - 1)
    arena.retire(node, Leaf.size)
    arena.retire(neighbour, Leaf.size)
    arena.retire(step.node, Self.rounded(parent.size))
    return true
  }
}
