import IncrementalStore

/// Entries that are removed and added, in the order of all of them. Both lists are sorted and have no entry in common.
struct EntryMerge {
  private let removed: [[UInt8]]
  private let added: [[UInt8]]
  private var removedPlace = 0
  private var addedPlace = 0

  init(removed: [[UInt8]], added: [[UInt8]]) {
    self.removed = removed
    self.added = added
  }

  /// The first entry that has not been applied; nil if there is none.
  var next: [UInt8]? {
    guard addedPlace < added.count else { return removedPlace < removed.count ? removed[removedPlace] : nil }
    return isRemovalNext ? removed[removedPlace] : added[addedPlace]
  }

  private var isRemovalNext: Bool {
    guard removedPlace < removed.count else { return false }
    return addedPlace == added.count || removed[removedPlace].lexicographicallyPrecedes(added[addedPlace])
  }

  /// Applies the changes below a bound to entries. Returns nil if these stay as they are.
  mutating func applied(below bound: [UInt8]?, to old: EntryList) -> EntryList? {
    var entries = EntryList()
    var start = 0
    var hasChanged = false
    while let entry = next, bound.map({ entry.lexicographicallyPrecedes($0) }) ?? true {
      let isAdded = !isRemovalNext
      if isAdded { addedPlace += 1 } else { removedPlace += 1 }
      let (place, isThere) = old.place(of: entry, from: start)
      guard isThere != isAdded else { continue }
      if !hasChanged { entries.reserve(old.count + 8, bytes: old.byteCount + 128) }
      hasChanged = true
      entries.append(old, start..<place)
      start = place
      if isAdded { entries.append(entry) } else { start += 1 }
    }
    guard hasChanged else { return nil }
    entries.append(old, start..<old.count)
    return entries
  }
}
