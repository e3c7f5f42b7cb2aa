/// Checks the trees of a checkpoint before they are used: their nodes lie below `nodesEnd` and do not overlap, so that
/// each is reached once; the separators of a node ascend, and so do the heads in a leaf. Which rows these are is not
/// checked: that would take a look at each record.
struct TreeCheck {
  private let arena: Arena
  private let nodesEnd: Int
  /// A bit for each 64 bytes that belong to a node reached so far.
  private var reached: [UInt64]
  /// Number of entries in the leaves reached so far.
  private(set) var entryCount = 0

  init(_ arena: Arena, nodesEnd: Int) {
    self.arena = arena
    self.nodesEnd = nodesEnd
    reached = Array(repeating: 0, count: nodesEnd / 4096 + 1)
  }

  /// Whether a node is the root of a sound tree, none of whose nodes has been reached before.
  mutating func isSound(_ node: UInt32, below level: Int? = nil) -> Bool {
    let offset = Int(node) * 64
    guard node > 0, offset + Leaf.size <= nodesEnd else { return false }
    let memory = unsafe arena[node]
    let height = unsafe Inner.level(memory)
    guard height < OrderedIndex.maximumHeight, level == nil || height == level.map({ $0 - 1 }) else { return false }
    guard height > 0 else {
      let leaf = unsafe Leaf(memory)
      guard reach(offset, Leaf.size), leaf.isSound, leaf.isAscending else { return false }
      entryCount += leaf.loadCounts().sorted + leaf.loadCounts().appended
      return true
    }
    let inner = unsafe Inner(memory)
    guard inner.isSound(available: nodesEnd - offset), reach(offset, inner.size) else { return false }
    return inner.isAscending
      && (0..<inner.count).allSatisfy { isSound(inner.child($0), below: height) }
  }

  /// Marks the bytes of a node; false if some are marked already.
  private mutating func reach(_ offset: Int, _ size: Int) -> Bool {
    for unit in offset / 64..<(offset + size + 63) / 64 {
      let bit: UInt64 = 1 << UInt64(unit % 64)
      guard reached[unit / 64] & bit == 0 else { return false }
      reached[unit / 64] |= bit
    }
    return true
  }
}
