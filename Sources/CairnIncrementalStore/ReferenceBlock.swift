import Cairn
import CoreData
import IncrementalStore

/// A block of durably reserved numbers for objects: STORE-FORMAT.md, section 8.
struct ReferenceBlock {
  /// How many numbers are reserved at once, at least.
  private static let size: UInt64 = 4096
  private static let key = Key.integer(3)
  /// The engine raises its sequence by at least this each time that it is opened for writing.
  private static let sequencesPerRange: UInt64 = 1_000_000_000

  private let range: UInt64
  private var counts: Range<UInt64>

  /// Returns numbers that were never given out. The caller holds `engine.turn`.
  static func take(_ count: Int, _ engine: Engine) throws -> [Int64] {
    var numbers: [Int64] = []
    while numbers.count < count {
      var block = try engine.reserved ?? reserve(UInt64(count - numbers.count), engine)
      let end = min(block.counts.upperBound, block.counts.lowerBound + UInt64(count - numbers.count))
      numbers += (block.counts.lowerBound..<end).map { Int64(block.range << 32 | $0) }
      block.counts = end..<block.counts.upperBound
      engine.reserved = block.counts.isEmpty ? nil : block
    }
    return numbers
  }

  private static func reserve(_ count: UInt64, _ engine: Engine) throws -> ReferenceBlock {
    let keyspace = try engine.makeTable(0).rows
    let row = try keyspace.row(key)
    let stored = try row.map { row in
      do {
        return try NumbersGivenOut(row.value)
      } catch {
        throw StoreFailure.make(
          CocoaError.fileReadCorruptFile.rawValue, "The reserved object numbers are damaged: \(error).",
          [NSUnderlyingErrorKey: error])
      }
    }
    let identity = engine.store.identity
    // A copy of a store must not give out the numbers that the original gives out.
    let base = stored.map { $0.store == identity ? $0.base : .random(in: 1 << 20..<1 << 30) } ?? 0
    var range = base + engine.store.lastSequence.rawValue / sequencesPerRange
    var found = row?.sequence
    // The first commit after an opening may have a sequence in a later range than `lastSequence`; if so, reserve again
    // in that range.
    while true {
      let isSame = stored.map { $0.store == identity && $0.range == range } ?? false
      let first = isSame ? stored?.next ?? 1 : 1
      let next = first + max(count, size)
      guard next < 1 << 32, range < 1 << 31 else {
        throw StoreFailure.make(
          NSPersistentStoreSaveError, "This opening of the store has used up its object numbers. Reopen the store.")
      }
      let counter = NumbersGivenOut(store: identity, base: base, range: range, next: next)
      let sequence = try engine.store.write(durability: .durable) { batch in
        try keyspace.put(counter.bytes, at: key, expecting: found.map { .sequence($0) } ?? .absent, in: &batch)
      }
      let actual = base + sequence.rawValue / sequencesPerRange
      if actual == range { return ReferenceBlock(range: range, counts: first..<next) }
      (range, found) = (actual, sequence)
    }
  }
}
