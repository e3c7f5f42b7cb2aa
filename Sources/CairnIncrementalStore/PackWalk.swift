import Cairn
import Foundation
import IncrementalStore

/// Reads entries from packs: STORE-FORMAT.md, section 7.
struct PackWalk {
  private let snapshot: Snapshot
  private let keyspace: Keyspace

  init(_ snapshot: Snapshot, _ keyspace: Keyspace) {
    self.snapshot = snapshot
    self.keyspace = keyspace
  }

  /// The last pack whose lower bound is at or below an entry; nil if there is none.
  func pack(for entry: [UInt8]) throws -> StoredPack? {
    var found: StoredPack?
    // As `KeyRange.through(_:)`, which compares the bounds.
    try scan(KeyRange(lower: [], upper: Key.bytes(entry).encoded + [0]), reverse: true, limit: 1) { pack in
      found = pack
      return false
    }
    return found
  }

  /// The lower bound of the first pack whose lower bound is above `bound`; nil if there is none.
  func bound(after bound: [UInt8]) throws -> [UInt8]? {
    var found: [UInt8]?
    try snapshot.scanKeys(.after(Key.bytes(bound)), in: keyspace, limit: 1) { key in
      found = try Self.bound(of: key)
      return .stop
    }
    return found
  }

  func forward(from lower: [UInt8], before upper: [UInt8]?, _ body: ([UInt8]) throws -> Bool) throws {
    // Entries before `lower` are not compared with `upper`.
    if let upper, !Entry.precedes(lower, upper) { return }
    var last: [UInt8]?
    var isInside = false
    func read(_ pack: StoredPack) throws -> Bool {
      try pack.reading {
        if let last, !Entry.precedes(last, pack.bound) { throw StoredPack.overlap }
        var entries = try PackReader(pack.bytes)
        var isFirst = true
        while try isFirst || isInside ? entries.next() : entries.next(notBelow: lower) {
          if isFirst, Entry.precedes(entries.entry, pack.bound) { throw StoredPack.overlap }
          // An entry that shares all bytes that decide with the previous entry, which is below `upper`, is below it too.
          if let upper, isFirst || entries.shared < upper.count, !Entry.precedes(entries.entry, upper) {
            return false
          }
          isFirst = false
          isInside = isInside || !Entry.precedes(entries.entry, lower)
          if isInside {
            guard try body(entries.entry) else { return false }
          }
        }
        last = entries.entry
        return true
      }
    }
    guard let first = try pack(for: lower) else { return try scan(.all, reverse: false, read) }
    // Most ranges end within one pack.
    if try read(first) { try scan(.after(Key.bytes(first.bound)), reverse: false, read) }
  }

  func reversed(from lower: [UInt8], before upper: [UInt8]?, _ body: ([UInt8]) throws -> Bool) throws {
    var next: [UInt8]?
    try scan(upper.map { .before(Key.bytes($0)) } ?? .all, reverse: true) { pack in
      defer { next = pack.bound }
      for entry in try pack.entries(below: next).reversed() {
        if let upper, !entry.lexicographicallyPrecedes(upper) { continue }
        guard !entry.lexicographicallyPrecedes(lower), try body(Array(entry)) else { return false }
      }
      return true
    }
  }

  // MARK: Skipping

  /// Skips the first entries of those from `lower` on and before `upper`, by whole packs. See
  /// ``EntrySkippingSnapshot``.
  func skipForward(_ most: Int, from lower: [UInt8], before upper: [UInt8]?) throws -> (count: Int, bound: [UInt8])? {
    guard let first = try pack(for: lower) else { return nil }
    let entries = try first.entries(below: nil)
    var skip = PackSkip(most, first.bound, entries.count - entries.place(of: lower, from: 0).place)
    try scan(.after(Key.bytes(first.bound)), reverse: false) { pack in
      // The entries of the pack before are below the bound of this one.
      if let upper, Entry.precedes(upper, pack.bound) { return false }
      return skip.pass(to: pack.bound, try pack.count)
    }
    return skip.rest
  }

  /// Skips the last entries of those from `lower` on and before `upper`, by whole packs.
  func skipBackward(_ most: Int, from lower: [UInt8], before upper: [UInt8]?) throws -> (count: Int, bound: [UInt8])? {
    let all = upper.map { KeyRange.before(Key.bytes($0)) } ?? .all
    var last: StoredPack?
    try scan(all, reverse: true, limit: 1) { pack in
      last = pack
      return false
    }
    guard let last, !Entry.precedes(last.bound, lower) else { return nil }
    let entries = try last.entries(below: nil)
    var skip = PackSkip(most, upper ?? [], upper.map { entries.place(of: $0, from: 0).place } ?? entries.count)
    var above = last.bound
    try scan(.before(Key.bytes(last.bound)), reverse: true) { pack in
      guard skip.pass(to: above, try pack.count) else { return false }
      above = pack.bound
      // Otherwise some of its entries may be below.
      return !Entry.precedes(pack.bound, lower)
    }
    return skip.rest
  }

  private func scan(
    _ range: KeyRange, reverse: Bool, limit: Int = .max, _ body: (StoredPack) throws -> Bool
  ) throws {
    try keyspace.scan(range, reverse: reverse, limit: limit, at: snapshot) { key, value, stamp in
      let bytes = unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
      return try body(StoredPack(bound: Self.bound(of: key), bytes: bytes, sequence: stamp.sequence)) ? .next : .stop
    }
  }

  private static func bound(of key: RawSpan) throws -> [UInt8] {
    guard case .bytes(let bound) = try Key(encoded: key) else {
      throw StoredPack.damaged("(not bytes)", RowDamage("a pack has a key of another kind", at: 0))
    }
    return bound
  }
}

/// A pack as it is stored.
struct StoredPack {
  /// The key of the pack, a lower bound of its entries.
  let bound: [UInt8]
  let bytes: [UInt8]
  let sequence: CommitSequence

  static let overlap = RowDamage("its entries are not between its lower bound and that of the next pack", at: 0)

  /// - Parameter next: The lower bound of the next pack; nil if there is none.
  func entries(below next: [UInt8]?) throws -> EntryList {
    try reading {
      let entries = try Pack.entries(bytes)
      if let first = entries.first, first.lexicographicallyPrecedes(bound) { throw Self.overlap }
      try Self.require(entries, below: next)
      return entries
    }
  }

  /// Throws if an entry of the pack is not below the lower bound of another pack; nil if there is none.
  func require(_ entries: EntryList, below next: [UInt8]?) throws {
    try reading { try Self.require(entries, below: next) }
  }

  private static func require(_ entries: EntryList, below next: [UInt8]?) throws {
    if let next, let last = entries.last, !last.lexicographicallyPrecedes(next) { throw overlap }
  }

  /// The number of entries, which are not read.
  var count: Int { get throws { try reading { try Pack.count(bytes) } } }

  func reading<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let damage as RowDamage {
      throw Self.damaged(Key.bytes(bound).description, damage)
    }
  }

  static func damaged(_ name: String, _ damage: RowDamage) -> NSError {
    StoreFailure.make(
      CocoaError.fileReadCorruptFile.rawValue, "The pack \(name) is damaged: \(damage).", [NSUnderlyingErrorKey: damage]
    )
  }
}

/// How many entries of neighbouring packs are skipped.
///
/// The last pack that could be skipped is left: objects with equal values may have entries in it and in the pack before
/// it, and the reader then sees the rest of these entries before it needs one.
private struct PackSkip {
  private let most: Int
  private var count = 0
  /// The pack that may be skipped next: where it begins, in the direction of the walk, and how many entries it has.
  private var next: (edge: [UInt8], count: Int)
  private(set) var rest: (count: Int, bound: [UInt8])?

  init(_ most: Int, _ edge: [UInt8], _ count: Int) {
    self.most = most
    next = (edge, count)
  }

  /// Skips the next pack, and goes on to the one behind it. Returns false if the next pack has too many entries.
  mutating func pass(to edge: [UInt8], _ count: Int) -> Bool {
    guard next.count <= most - self.count else { return false }
    if self.count > 0 { rest = (self.count, next.edge) }
    self.count += next.count
    next = (edge, count)
    return true
  }
}
