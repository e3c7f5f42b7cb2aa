import IncrementalStore

extension Promise {
  static let entries = [entryOrder, changedEntries, entryRanges, longEntries]

  private static let entryOrder = Promise("Entries are read in the order of their bytes, each once.") { session in
    let store = try session.store()
    var random = session.random()
    var model = Model()
    try model.save(to: store) { draft in hardEntries.forEach { draft.add($0) } }
    try model.check(store.snapshot())
    // Many bytes in common, so that entries are prefixes of others and differ in the last byte.
    for _ in 1...4 {
      try model.save(to: store) { draft in
        for _ in 1...150 { draft.add(random.bytes(1...6, upTo: 2)) }
      }
      try model.check(store.snapshot())
    }
  }

  private static let changedEntries = Promise(
    "An entry that exists can be added, and one that does not exist can be removed, without any effect."
  ) { session in
    let store = try session.store()
    var model = Model()
    func save(adding added: [[UInt8]], removing removed: [[UInt8]]) throws {
      try model.save(to: store) { draft in
        added.forEach { draft.add($0) }
        removed.forEach { draft.remove($0) }
      }
      try model.check(store.snapshot())
    }
    try save(adding: [[1], [2], [3]], removing: [])
    try save(adding: [[2], [4]], removing: [[1], [5]])
    try save(adding: [[2]], removing: [[5], [6], [3, 0]])
    try save(adding: [[1]], removing: [[2], [3], [4]])
    try save(adding: [], removing: [[1], [9]])
    try save(adding: (0...255).map { [$0, $0] }, removing: (0...255).map { [$0] })
    try save(adding: (0...255).map { [$0] }, removing: (0...255).map { [$0, $0] })
    try save(adding: [], removing: (0...255).map { [$0] })
    try save(adding: [[7]], removing: [])
  }

  private static let entryRanges = Promise(
    "A range of entries begins at its lower bound, ends before its upper one, and stops when told to, in both orders."
  ) { session in
    let store = try session.store()
    var random = session.random()
    var model = Model()
    try model.save(to: store) { draft in
      hardEntries.forEach { draft.add($0) }
      for _ in 1...150 { draft.add(random.bytes(1...4, upTo: 3)) }
    }
    let snapshot = try store.snapshot()
    let bounds =
      [[], [0], [1], [3, 3], [0xFF], [0xFF, 0xFF, 0xFF, 0xFF]] + (0..<5).map { _ in random.bytes(1...3, upTo: 3) }
    for lower in bounds {
      for upper in bounds.map(Optional.some) + [nil] {
        for reverse in [false, true] {
          func subject() -> String {
            """
            The entries from \(lower.abbreviated) \(upper.map { "before \($0.abbreviated)" } ?? "to the end")\
            \(reverse ? " in reverse order" : "")
            """
          }
          let inOrder = model.entries(from: lower, before: upper)
          let expected = reverse ? inOrder.reversed() : inOrder
          let found = try snapshot.allEntries(from: lower, before: upper, reverse: reverse)
          try expect(subject(), found, are: expected)
          let limit = Int.random(in: 1...5, using: &random)
          let first = try snapshot.allEntries(from: lower, before: upper, reverse: reverse, limit: limit)
          try expect("The first \(limit) of: \(subject())", first, are: Array(expected.prefix(limit)))
        }
      }
    }
    let stopped = Stopped()
    try expectThrown(stopped, "The error of a closure that reads entries") {
      try snapshot.forEachEntry(from: [], before: nil, reverse: false) { _ in throw stopped }
    }
  }

  private static let longEntries = Promise(
    "Entries of 10,000 bytes are kept, also if they differ only in the last bytes."
  ) {
    session in
    let store = try session.store()
    var random = session.random()
    var model = Model()
    let start = random.bytes(5_000...5_000)
    let ends: [[UInt8]] =
      [[], [0], [0, 0], [0xFF], [0xFF, 0xFF], [1], [1, 2]] + (0..<10).map { _ in random.bytes(1...8) }
    let rest = random.bytes(5_000...5_000)
    try model.save(to: store) { draft in
      for end in ends {
        draft.add(start + end)
        draft.add(start + end + rest.dropLast(end.count))
      }
      draft.add(Array(repeating: 0, count: 10_000))
      draft.add(Array(repeating: 0xFF, count: 10_000))
      draft.add(Array(repeating: 0xFF, count: 9_999))
    }
    let snapshot = try store.snapshot()
    try model.check(snapshot)
    for end in ends {
      let expected = model.entries(from: start + end, before: start + [0xFF])
      try expect("The long entries", snapshot.allEntries(from: start + end, before: start + [0xFF]), are: expected)
      let found = try snapshot.entries(beginningWith: [start + end], limit: 100)
      try expect("The entries with a long prefix", found, are: [model.entries(beginningWith: start + end)])
    }
    try model.save(to: store) { draft in ends.forEach { draft.remove(start + $0 + rest.dropLast($0.count)) } }
    try model.check(store.snapshot())
  }
}

/// Entries that differ in the bytes with the least and the greatest values, or only in their lengths.
private let hardEntries: [[UInt8]] =
  (0...255).map { [$0] } + (0...255).map { [5, $0, 5] } + (1...9).map { Array(repeating: 0, count: $0) }
  + (1...9).map { Array(repeating: 0xFF, count: $0) } + [
    [0, 0xFF], [0xFF, 0], [0x7F, 0xFF], [0x80, 0], [0xFF, 0xFE],
  ]
