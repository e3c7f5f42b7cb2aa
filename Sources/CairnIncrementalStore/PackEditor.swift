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

  init(_ snapshot: Snapshot, _ keyspace: Keyspace) {
    walk = PackWalk(snapshot, keyspace)
    self.keyspace = keyspace
  }

  /// Writes the packs that change. Both lists are sorted and have no entry in common.
  func apply(removed: EntryList, added: EntryList, to batch: inout Batch) throws {
    var changes = EntryMerge(removed: removed, added: added)
    /// The pack of the next change, if it is known.
    var found: StoredPack?
    while let first = changes.next {
      let pack = try found ?? walk.pack(for: first)
      found = nil
      let bound = pack?.bound ?? []
      let old = try pack?.entries(below: nil) ?? EntryList()
      let last = old.last.flatMap { first.lexicographicallyPrecedes($0) ? Array($0) : nil } ?? first
      // The pack is unchanged if no entry to be removed is in it and all entries to be added are.
      var changed = changes.applied(below: last + [0], to: old)
      // Most changes are far from each other. Finding the pack of the next one spares finding the bound of this pack.
      var next: [UInt8]?
      if let change = changes.next {
        found = try walk.pack(for: change)
        if found?.bound ?? [] == bound {
          found = nil
          next = try walk.bound(after: bound)
          changed = changes.applied(below: next, to: changed ?? old) ?? changed
        }
      }
      guard var entries = changed else { continue }
      if next == nil, entries.count < Self.fewestEntries { next = try walk.bound(after: bound) }
      try pack?.require(old, below: next ?? found?.bound)
      while !entries.isEmpty, entries.count < Self.fewestEntries, let neighbour = next,
        let joined = try walk.pack(for: neighbour)
      {
        found = nil
        next = try walk.bound(after: joined.bound)
        let others = try joined.entries(below: next)
        let changed = changes.applied(below: next, to: others)
        let more = changed ?? others
        // Joined packs must not need splitting again, perhaps at the lower bound of the pack that is deleted here.
        guard entries.count + more.count <= Self.mostEntries, entries.byteCount + more.byteCount <= Self.mostBytes
        else {
          if let changed { try write(changed, joined.bound, joined, others, to: &batch) }
          break
        }
        entries.append(more, 0..<more.count)
        try keyspace.delete(Key.bytes(joined.bound), expecting: .sequence(joined.sequence), in: &batch)
      }
      try write(entries, bound, pack, old, to: &batch)
    }
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
      let bytes = entries.pack(part)
      if number == 0 {
        try keyspace.put(bytes, at: Key.bytes(bound), expecting: expected, in: &batch)
      } else {
        try keyspace.put(bytes, at: Key.bytes(Array(entries[part.lowerBound])), expecting: .absent, in: &batch)
      }
    }
  }

  private static func parts(_ entries: EntryList, isGrowingAtEnd: @autoclosure () -> Bool) -> [Range<Int>] {
    let (count, total) = (entries.count, entries.byteCount)
    let least = max((count + mostEntries - 1) / mostEntries, (total + mostBytes - 1) / mostBytes, 1)
    guard least > 1 else { return [0..<count] }
    let most = isGrowingAtEnd() ? mostEntries : (count + least - 1) / least
    var parts: [Range<Int>] = []
    var start = 0
    var bytes = 0
    for place in 0..<count {
      let length = entries.length(of: place)
      if place > start, place - start >= most || bytes + length > mostBytes {
        parts.append(start..<place)
        (start, bytes) = (place, 0)
      }
      bytes += length
    }
    return parts + [start..<count]
  }
}
