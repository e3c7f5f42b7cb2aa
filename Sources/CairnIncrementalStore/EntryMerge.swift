import IncrementalStore

/// Entries that are removed and added, in the order of all of them. Both lists are sorted and have no entry in common.
struct EntryMerge {
  private let removed: EntryList
  private let added: EntryList
  private var removedPlace = 0
  private var addedPlace = 0

  init(removed: EntryList, added: EntryList) {
    self.removed = removed
    self.added = added
  }

  /// The first entry that has not been applied; nil if there is none.
  var next: [UInt8]? {
    if isAdditionNext { return Array(added[addedPlace]) }
    return removedPlace < removed.count ? Array(removed[removedPlace]) : nil
  }

  private var isAdditionNext: Bool {
    guard addedPlace < added.count else { return false }
    return removedPlace == removed.count || added.isBefore(removedPlace, of: removed, addedPlace)
  }

  /// Applies the changes below a bound to entries. Returns nil if these stay as they are.
  mutating func applied(below bound: [UInt8]?, to old: EntryList) -> EntryList? {
    var entries = EntryList()
    var start = 0
    var hasChanged = false
    while removedPlace < removed.count || addedPlace < added.count {
      let isAdded = isAdditionNext
      if let bound {
        guard isAdded ? added.isBefore(bound, addedPlace) : removed.isBefore(bound, removedPlace) else { break }
      }
      defer { if isAdded { addedPlace += 1 } else { removedPlace += 1 } }
      let (place, isThere) =
        isAdded
        ? old.place(of: addedPlace, in: added, from: start) : old.place(of: removedPlace, in: removed, from: start)
      guard isThere != isAdded else { continue }
      if !hasChanged { entries.reserve(old.count + 8, bytes: old.byteCount + 128) }
      hasChanged = true
      entries.append(old, start..<place)
      start = place
      if isAdded { entries.append(added, addedPlace..<addedPlace + 1) } else { start += 1 }
    }
    guard hasChanged else { return nil }
    entries.append(old, start..<old.count)
    return entries
  }
}
