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
  var next: [UInt8]? { nextChange?.entry }

  private var nextChange: (entry: [UInt8], isAdded: Bool)? {
    guard removedPlace < removed.count else {
      return addedPlace < added.count ? (added[addedPlace], true) : nil
    }
    let isAdded = addedPlace < added.count && Entry.precedes(added[addedPlace], removed[removedPlace])
    return isAdded ? (added[addedPlace], true) : (removed[removedPlace], false)
  }

  /// Applies the changes below a bound to entries. Returns nil if these stay as they are.
  mutating func applied(below bound: [UInt8]?, to old: EntryList) -> EntryList? {
    var entries = EntryList()
    var start = 0
    var hasChanged = false
    while let (entry, isAdded) = nextChange, bound.map({ Entry.precedes(entry, $0) }) ?? true {
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
