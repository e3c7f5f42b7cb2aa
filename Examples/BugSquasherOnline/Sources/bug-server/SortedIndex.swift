/// The identifiers of bugs in the order of a key, and of their identifiers where the key is the same.
struct SortedIndex<Key: Comparable & Sendable>: Sendable {
  struct Entry: Comparable, Sendable {
    let key: Key
    let id: Int

    static func < (left: Entry, right: Entry) -> Bool {
      left.key == right.key ? left.id < right.id : left.key < right.key
    }
  }

  private var entries: [Entry]

  init(_ entries: [Entry] = []) { self.entries = entries.sorted() }

  mutating func insert(_ key: Key, _ id: Int) {
    let entry = Entry(key: key, id: id)
    entries.insert(entry, at: position { $0 < entry })
  }

  mutating func remove(_ key: Key, _ id: Int) {
    let entry = Entry(key: key, id: id)
    let index = position { $0 < entry }
    if index < entries.count, entries[index] == entry { entries.remove(at: index) }
  }

  /// The entries behind one, or all.
  func ascending(after entry: Entry?) -> ArraySlice<Entry> {
    entries[(entry.map { entry in position { $0 <= entry } } ?? 0)...]
  }

  /// The entries before one, or all, the last one first.
  func descending(before entry: Entry?) -> ReversedCollection<ArraySlice<Entry>> {
    entries[..<(entry.map { entry in position { $0 < entry } } ?? entries.count)].reversed()
  }

  /// Where the first entry is that does not satisfy a condition which all before it satisfy.
  private func position(where isBefore: (Entry) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(entries[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
