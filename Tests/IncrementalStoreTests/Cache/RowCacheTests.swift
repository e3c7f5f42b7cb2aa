import CairnSimulation
import CoreData
import Foundation
import Synchronization
import Testing

@testable import IncrementalStore

@Suite("The row cache")
struct RowCacheTests {
  private let stack: Stack<RecordingStore>
  private let time = Clock()
  private let cache: RowCache

  /// A clock in nanoseconds, on which time passes only when a test says so.
  private final class Clock: Sendable {
    let now = Mutex<UInt64>(0)
    func pass(seconds: UInt64) { now.withLock { $0 += seconds * 1_000_000_000 } }
  }

  init() throws {
    stack = try Stack()
    let time = time
    cache = RowCache(limit: 100_000) { time.now.withLock { $0 } }
  }

  private func id(_ number: Int) -> NSManagedObjectID {
    stack.store.newObjectID(for: stack.store.entity("Pet"), referenceObject: NSNumber(value: number))
  }

  @discardableResult
  private func set(_ number: Int, revision: UInt64 = 1, bytes: Int = 750) -> CachedRow {
    let row = CachedRow(bytes: [UInt8](repeating: 0, count: bytes), version: revision, revision: revision)
    return cache.reading { cache.set(row, of: id(number), readSince: $0) }
  }

  private func isThere(_ number: Int) -> Bool { cache.row(of: id(number)) != nil }

  // MARK: Rows that change while they are read

  @Test("A row that somebody saves, touches or removes while others read it is not kept as they have read it.")
  func changedMeanwhile() {
    for number in 1...4 { set(number, revision: 1) }
    let former = CachedRow(bytes: [1], version: 1, revision: 1)
    cache.reading { start in
      cache.set(CachedRow(bytes: [2], version: 2, revision: 2), of: id(1))
      cache.touch(id(2), from: 1, version: 2, 2)
      cache.remove(id(3))
      cache.remove(id(5))
      for number in 1...5 { cache.set(former, of: id(number), readSince: start) }
      // Whoever begins after the changes has read them.
      cache.reading { later in
        _ = cache.set(CachedRow(bytes: [3], version: 3, revision: 3), of: id(5), readSince: later)
      }
    }
    #expect(cache.row(of: id(1))?.bytes == [2])
    #expect(cache.row(of: id(2))?.revision == 2)
    #expect(cache.row(of: id(3)) == nil)
    #expect(cache.row(of: id(4))?.bytes == [1])
    #expect(cache.row(of: id(5))?.bytes == [3])
  }

  @Test("If too many rows change to be remembered, those who have begun to read before keep none, and others do.")
  func manyChanges() {
    cache.reading { first in
      for number in 0...ChangedRows.limit { cache.remove(id(number)) }
      cache.reading { second in
        set(-1)
        let row = CachedRow(bytes: [], version: 1, revision: 1)
        cache.set(row, of: id(-2), readSince: first)
        cache.set(row, of: id(-3), readSince: second)
      }
    }
    #expect(isThere(-1) && !isThere(-2) && isThere(-3))
  }

  @Test("Changes are forgotten that all who are reading have begun after.")
  func oldChanges() {
    var changed = ChangedRows()
    let first = changed.beginReading()
    for number in 1...ChangedRows.limit { changed.note(id(number)) }
    let second = changed.beginReading()
    changed.endReading(first)
    changed.note(id(0))
    #expect(changed.mayHaveChanged(id(0), since: second))
    #expect(!changed.mayHaveChanged(id(1), since: second))
    changed.endReading(second)
    #expect(!changed.areWatched)
  }

  @Test("The row cache keeps all registered rows, whatever their size.")
  func registered() {
    cache.register((1...500).map(id))
    for number in 1...500 { set(number) }
    #expect((1...500).allSatisfy(isThere))
    #expect(cache.size.unregisteredBytes == 0)
  }

  @Test("The row cache keeps a row until it was unregistered as often as it was registered.")
  func counting() {
    for _ in 0..<2 { cache.register([id(1)]) }
    set(1)
    cache.unregister([id(1)])
    for number in 1_000..<2_000 { set(number) }
    #expect(isThere(1))
    cache.unregister([id(1)])
    for number in 1_000..<2_000 { set(number) }
    #expect(!isThere(1))
  }

  @Test("The row cache raises the version of a touched row, and drops a row that is not the one that was touched.")
  func touched() {
    set(1)
    cache.touch(id(1), from: 1, version: 2, 5)
    #expect(cache.row(of: id(1)).map { [$0.version, $0.revision] } == [2, 5])
    cache.touch(id(1), from: 1, version: 3, 6)
    cache.touch(id(2), from: 1, version: 2, 6)
    #expect(!isThere(1) && !isThere(2))
  }

  @Test("The row cache keeps the latest of the other rows, up to its limit.")
  func bounded() {
    for number in 1...1_000 {
      set(number)
      #expect(cache.size.unregisteredBytes <= 100_000)
    }
    #expect(isThere(1_000) && isThere(960) && !isThere(1))
  }

  @Test("The row cache frees the rows of a dropped generation a few at a time.")
  func freedInTurn() {
    var size = 0
    for number in 1...1_000 {
      set(number)
      let now = cache.size.unregisteredBytes
      // One row came, and two went at most.
      #expect(now >= size - 1_000)
      size = now
    }
  }

  @Test("The row cache removes nothing for a row that is larger than its limit.")
  func tooLarge() {
    set(1)
    set(2, bytes: 200_000)
    #expect(isThere(1) && !isThere(2))
  }

  @Test("The row cache keeps to its limit when rows grow and shrink.")
  func grown() {
    for (revision, bytes) in [700, 20_000, 0, 60_000, 700, 40_000].enumerated() {
      for number in 1...10 {
        set(number, revision: UInt64(revision), bytes: bytes)
        #expect(cache.size.unregisteredBytes <= 100_000)
      }
    }
  }

  @Test("The row cache removes a row of the older generation that has grown too large.")
  func grownTooLarge() {
    set(1)
    set(1, revision: 2, bytes: 60_000)
    set(2)
    set(1, revision: 3)
    for number in 1_000..<2_000 {
      set(number)
      #expect(cache.size.unregisteredBytes <= 100_000)
    }
    #expect(isThere(1_999))
  }

  @Test("The row cache returns a row only if it is not older than requested.")
  func age() {
    set(1)
    time.pass(seconds: 10)
    #expect(cache.row(of: id(1), maximumAge: 0) == nil)
    #expect(cache.row(of: id(1), maximumAge: 10) == nil)
    #expect(cache.row(of: id(1), maximumAge: 11) != nil)
    #expect(cache.row(of: id(1), maximumAge: -1) != nil)
    set(1)
    #expect(cache.row(of: id(1), maximumAge: 1) != nil)
    #expect(cache.row(of: id(1), maximumAge: 0) == nil)
  }

  @Test("The row cache never replaces a row with an older state, and returns the newer one.")
  func older() {
    #expect(set(1, revision: 5).revision == 5)
    #expect(set(1, revision: 7).revision == 7)
    #expect(set(1, revision: 6).revision == 7)
    #expect(cache.row(of: id(1))?.revision == 7)
  }

  @Test("The row cache removes a deleted row, and keeps its registration for the case that it returns.")
  func removal() {
    cache.register([id(1)])
    set(1)
    cache.remove(id(1))
    #expect(!isThere(1))
    set(1, revision: 2)
    for number in 1_000..<2_000 { set(number) }
    #expect(isThere(1))
  }

  /// `OPENCOREDATA_SEED` replays a failure.
  @Test("Random calls leave every registered row, no row out of date, and no more bytes than the limit.")
  func program() {
    let chosen = ProcessInfo.processInfo.environment["OPENCOREDATA_SEED"]
    let seed = chosen.flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    print("OPENCOREDATA_SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    var users: [Int: Int] = [:]
    var newest: [Int: CachedRow] = [:]
    // The objects whose rows have been in the cache since somebody registered them.
    var kept: Set<Int> = []
    for step in 1...20_000 {
      // Most objects are used in turn: the table grows and shrinks, and generations end.
      let number = Int.random(in: 0..<(step / 2_000 % 2 == 0 ? 1_000 : 100), using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let bytes = Int.random(in: 0..<20, using: &random) == 0 ? 60_000 : Int.random(in: 0..<1_000, using: &random)
        newest[number] = set(number, revision: UInt64(step), bytes: bytes)
        if users[number, default: 0] > 0 { kept.insert(number) }
      case 5..<7:
        if isThere(number) { kept.insert(number) }
        cache.register([id(number)])
        users[number, default: 0] += 1
      case 7..<9:
        cache.unregister([id(number)])
        users[number] = max(0, users[number, default: 0] - 1)
        if users[number] == 0 { kept.remove(number) }
      default:
        cache.remove(id(number))
        newest[number] = nil
        kept.remove(number)
      }
      let found = cache.row(of: id(number))
      if let found { #expect(found.revision == newest[number]?.revision && found.bytes == newest[number]?.bytes) }
      #expect(found != nil || !kept.contains(number))
      #expect(cache.isRegistered(id(number)) == (users[number, default: 0] > 0))
      if step % 100 == 0 {
        #expect(kept.allSatisfy(isThere))
        #expect(cache.size.unregisteredBytes <= 100_000)
      }
    }
    cache.unregister(users.flatMap { Array(repeating: id($0), count: $1) })
    #expect(cache.size.unregisteredBytes <= 100_000)
    for number in 0..<1_000 { cache.remove(id(number)) }
    #expect(cache.isUnused)
  }
}
