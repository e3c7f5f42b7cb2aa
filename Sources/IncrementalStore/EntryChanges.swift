/// The entries that a save adds and removes.
struct EntryChanges {
  private var added: Set<[UInt8]> = []
  private var removed: Set<[UInt8]> = []

  mutating func add(_ entry: [UInt8]) { added.insert(entry) }
  mutating func remove(_ entry: [UInt8]) { removed.insert(entry) }

  /// Removes an entry, whether or not it has been added before.
  mutating func withdraw(_ entry: [UInt8]) {
    added.remove(entry)
    removed.insert(entry)
  }

  func isRemoved(_ entry: [UInt8]) -> Bool { removed.contains(entry) && !added.contains(entry) }

  /// Each entry once and in order. An entry that is both removed and added exists in the end.
  var sorted: (removed: [[UInt8]], added: [[UInt8]]) {
    (
      removed.subtracting(added).sorted { $0.lexicographicallyPrecedes($1) },
      added.sorted { $0.lexicographicallyPrecedes($1) }
    )
  }
}
