import Cairn
import IncrementalStore

/// Changes entries in packs like the leaves of a B-tree: STORE-FORMAT.md, section 7.
struct PackEditor {
  /// The limits of a pack: its number of entries, and their bytes together, which a single entry may exceed.
  static let mostEntries = 64
  static let mostBytes = Pack.mostBytes
  /// A pack with fewer entries is joined with the next one if both together are within the limits.
  static let fewestEntries = 16

  private let walk: PackWalk
  private let keyspace: Keyspace

  private struct Change {
    let entry: [UInt8]
    let isAdded: Bool
  }

  init(_ snapshot: Snapshot, _ keyspace: Keyspace) {
    walk = PackWalk(snapshot, keyspace)
    self.keyspace = keyspace
  }

  /// Writes the packs that change. Both lists are sorted and have no entry in common.
  func apply(removed: [[UInt8]], added: [[UInt8]], to batch: inout Batch) throws {
    var changes = Self.merged(removed, added)[...]
    while let first = changes.first {
      let pack = try walk.pack(for: first.entry)
      let bound = pack?.bound ?? []
      var next = try walk.pack(after: bound)
      let old = try pack?.entries(below: next?.bound) ?? EntryList()
      var entries = Self.applying(Self.take(&changes, below: next?.bound), to: old)
      // The pack is unchanged if no entry to be removed is in it and all entries to be added are.
      guard entries != old || pack == nil else { continue }
      while !entries.isEmpty, entries.count < Self.fewestEntries, let joined = next {
        next = try walk.pack(after: joined.bound)
        let others = try joined.entries(below: next?.bound)
        let more = Self.applying(Self.take(&changes, below: next?.bound), to: others)
        // Joined packs must not need splitting again, perhaps at the lower bound of the pack that is deleted here.
        guard entries.count + more.count <= Self.mostEntries, entries.byteCount + more.byteCount <= Self.mostBytes
        else {
          if more != others { try write(more, joined.bound, joined, others, to: &batch) }
          break
        }
        entries.append(more, more.indices)
        try keyspace.delete(Key.bytes(joined.bound), expecting: .sequence(joined.sequence), in: &batch)
      }
      try write(entries, bound, pack, old, to: &batch)
    }
  }

  private static func merged(_ removed: [[UInt8]], _ added: [[UInt8]]) -> [Change] {
    (removed.map { Change(entry: $0, isAdded: false) } + added.map { Change(entry: $0, isAdded: true) })
      .sorted { $0.entry.lexicographicallyPrecedes($1.entry) }
  }

  private static func take(_ changes: inout ArraySlice<Change>, below bound: [UInt8]?) -> ArraySlice<Change> {
    let taken = changes.prefix { change in bound.map { change.entry.lexicographicallyPrecedes($0) } ?? true }
    changes = changes.dropFirst(taken.count)
    return taken
  }

  private static func applying(_ changes: ArraySlice<Change>, to old: EntryList) -> EntryList {
    guard !changes.isEmpty else { return old }
    var entries = EntryList()
    entries.reserve(
      old.count + changes.count, bytes: changes.reduce(old.byteCount) { $0 + ($1.isAdded ? $1.entry.count : 0) })
    var start = 0
    for change in changes {
      let place = old.place(of: change.entry, from: start)
      entries.append(old, start..<place)
      start = place
      if start < old.count, old[start].elementsEqual(change.entry) { start += 1 }
      if change.isAdded { entries.append(change.entry) }
    }
    entries.append(old, start..<old.count)
    return entries
  }

  /// Writes entries as one pack, or as several if they exceed the limits. If entries were only added at the end, as is
  /// common for sets, all packs but the last are filled.
  private func write(
    _ entries: EntryList, _ bound: [UInt8], _ pack: StoredPack?, _ old: EntryList, to batch: inout Batch
  ) throws {
    let expected = pack.map { Expectation.sequence($0.sequence) } ?? .absent
    guard !entries.isEmpty else {
      if pack != nil { try keyspace.delete(Key.bytes(bound), expecting: expected, in: &batch) }
      return
    }
    for (number, part) in Self.parts(entries, isGrowingAtEnd: entries.begins(with: old)).enumerated() {
      let bytes = Pack.bytes(part)
      if number == 0 {
        try keyspace.put(bytes, at: Key.bytes(bound), expecting: expected, in: &batch)
      } else if let first = part.first {
        try keyspace.put(bytes, at: Key.bytes(Array(first)), expecting: .absent, in: &batch)
      }
    }
  }

  private static func parts(_ entries: EntryList, isGrowingAtEnd: @autoclosure () -> Bool) -> [Slice<EntryList>] {
    let total = entries.byteCount
    let least = max((entries.count + mostEntries - 1) / mostEntries, (total + mostBytes - 1) / mostBytes, 1)
    guard least > 1 else { return [entries[...]] }
    let most = isGrowingAtEnd() ? mostEntries : (entries.count + least - 1) / least
    var parts: [Slice<EntryList>] = []
    var start = 0
    var bytes = 0
    for (place, entry) in entries.enumerated() {
      if place > start, place - start >= most || bytes + entry.count > mostBytes {
        parts.append(entries[start..<place])
        (start, bytes) = (place, 0)
      }
      bytes += entry.count
    }
    return parts + [entries[start...]]
  }
}
