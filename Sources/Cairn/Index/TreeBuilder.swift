/// Where new nodes are written: an arena, or a checkpoint.
protocol NodeSink<Failure> {
  associatedtype Failure: Error
  /// Makes room for a node, lets `fill` write it, and returns its address.
  mutating func add(_ size: Int, _ fill: (UnsafeMutableRawPointer) -> Void) throws(Failure) -> UInt32
}

struct ArenaSink: NodeSink {
  let arena: Arena

  mutating func add(_ size: Int, _ fill: (UnsafeMutableRawPointer) -> Void) -> UInt32 {
    let node = arena.allocate(size)
    unsafe fill(arena[node])
    return node
  }
}

/// Builds the inner nodes of an ordered index over leaves that come in order.
struct TreeBuilder {
  private struct Level {
    var children: [UInt32] = []
    var separators: [[UInt8]] = []
    /// The separator before the first child.
    var separator: [UInt8] = []
  }

  private static let fill = Inner.maximumChildren * 3 / 4

  private var levels: [Level] = []

  var isEmpty: Bool { levels.isEmpty }

  /// Adds a leaf. All its keys are at or above `separator`, and all keys of the leaf before it are below. For the first
  /// leaf, `separator` may be anything.
  mutating func add<Sink: NodeSink>(
    _ leaf: UInt32, after separator: [UInt8], to sink: inout Sink
  ) throws(Sink.Failure) {
    try add(leaf, after: separator, level: 0, to: &sink)
  }

  private mutating func add<Sink: NodeSink>(
    _ node: UInt32, after separator: [UInt8], level: Int, to sink: inout Sink
  ) throws(Sink.Failure) {
    if level == levels.count { levels.append(Level()) }
    if levels[level].children.count == Self.fill { try close(level, to: &sink) }
    if levels[level].children.isEmpty {
      levels[level].separator = separator
    } else {
      levels[level].separators.append(separator)
    }
    levels[level].children.append(node)
  }

  private mutating func close<Sink: NodeSink>(_ level: Int, to sink: inout Sink) throws(Sink.Failure) {
    let full = levels[level]
    levels[level] = Level()
    let node = try Inner.add(level: level + 1, full.children, full.separators, to: &sink)
    try add(node, after: full.separator, level: level + 1, to: &sink)
  }

  /// Returns the root. At least one leaf must have been added.
  mutating func finish<Sink: NodeSink>(to sink: inout Sink) throws(Sink.Failure) -> UInt32 {
    var level = 0
    while level < levels.count - 1 || levels[level].children.count > 1 {
      try close(level, to: &sink)
      level += 1
    }
    return levels[level].children[0]
  }
}
