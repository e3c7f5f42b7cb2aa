import Cairn
import CairnSimulation
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct ConcurrencyTests {
  /// Uses no clock: if a reader waited for the writer, the test would never end.
  @Test(
    "Readers continue while a writer is held in the middle of a commit.",
    arguments: [MemoryFileLayer.Operation.write, .sync])
  func readersGoOnWhileAWriterIsHeldIn(_ operation: MemoryFileLayer.Operation) throws {
    let machine = Machine()
    let store = try machine.open()
    let ordered = try store.keyspace("ordered")
    let unordered = try store.keyspace("unordered", order: .unordered)
    try store.write { batch in
      for number in 0..<100 {
        try batch.put([1], at: .integer(Int64(number)), in: ordered)
        try batch.put([1], at: .integer(Int64(number)), in: unordered)
      }
    }
    let before = store.snapshot()
    let held = HeldOperation(operation, of: machine.files)
    let writer = Threads()
    writer.start {
      defer { held.hasPassed() }
      try store.put([2], at: 5, in: ordered)
    }
    try #require(held.waitForArrival())

    // While the write is held, the commit is not visible; while the sync is held, it is visible but not yet durable.
    let seen: [UInt8] = operation == .sync ? [2] : [1]
    #expect(try store.get(5, in: ordered) == seen)
    #expect(try store.contains(7, in: unordered))
    #expect(try store.withValue(8, in: ordered) { $0.byteCount } == 1)
    let during = store.snapshot()
    #expect(try during.rows(in: ordered).count == 100)
    #expect(try during.get(5, in: ordered) == seen)
    #expect(try during.get(many: [1, 2, 500], in: ordered).compactMap { $0 }.count == 2)
    #expect(try before.get(5, in: ordered) == [1])
    var count = 0
    try during.scan(in: unordered) { _, _, _ in
      count += 1
      return .next
    }
    #expect(count == 100)
    #expect(try during.count(in: ordered) == 100)
    during.close()
    before.close()
    #expect(store.statistics.rows == 200)
    #expect(store.durableSequence == 1)

    held.letGo()
    try writer.join()
    #expect(try store.get(5, in: ordered) == [2])
    #expect(store.durableSequence == 2)
    try store.close()
  }

  @Test("Commits that are made at the same time share a sync.") func committersAtTheSameTimeShareASync() throws {
    let machine = Machine()
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([0], at: 0, in: rows)
    let held = HeldOperation(.sync, of: machine.files)
    let threads = Threads()
    threads.start {
      defer { held.hasPassed() }
      try store.put([1], at: 1, in: rows)
    }
    try #require(held.waitForArrival())
    let syncs = store.statistics.syncs
    for number in Int64(2)...9 {
      threads.start { try store.put([1], at: .integer(number), in: rows) }
    }
    // All commits are appended and published, and wait for the sync that is held.
    while store.lastSequence < 10 { sched_yield() }
    #expect(store.statistics.syncs == syncs)
    held.letGo()
    try threads.join()
    #expect(store.durableSequence == 10)
    #expect(store.statistics.syncs == syncs + 1, "eight commits, one more sync")
    #expect(store.statistics.commitsPerSync == 10 / Double(syncs + 1))
    try store.close()
  }

  @Test func asynchronousCommitsShareSyncsAndAreAllThere() async throws {
    let machine = Machine()
    let store = try machine.openThreaded()
    let rows = try store.keyspace("rows")
    try await withThrowingTaskGroup(of: CommitSequence.self) { group in
      for number in 0..<200 {
        group.addTask { try await store.submit { try $0.put([1], at: .integer(Int64(number)), in: rows) } }
      }
      var sequences: Set<CommitSequence> = []
      for try await sequence in group { sequences.insert(sequence) }
      #expect(sequences.count == 200)
    }
    #expect(store.durableSequence == store.lastSequence)
    #expect(try store.snapshot().count(in: rows) == 200)
    try store.close()
  }

  @Test("G9: Readers find their rows while the index grows.")
  func readersFindTheirRowsWhileTheIndexGrows() throws {
    let machine = Machine()
    var options = Machine.options
    options.segmentSize = 1 << 22
    let store = try machine.openThreaded(options)
    let rows = try store.keyspace("rows")
    let written = Atomic<Int>(0)
    let total = 12_000
    let threads = Threads()
    threads.start {
      for number in 0..<total {
        try store.put([UInt8(truncatingIfNeeded: number)], at: KeyShape.random.key(number), in: rows, .buffered)
        written.store(number + 1, ordering: .releasing)
      }
    }
    for seed in 1...2 {
      threads.start {
        var random = SplitMix64(seed: UInt64(seed))
        while true {
          let count = written.load(ordering: .acquiring)
          if count == total { return }
          guard count > 0 else { continue }
          let number = Int.random(in: 0..<count, using: &random)
          guard try store.get(KeyShape.random.key(number), in: rows) == [UInt8(truncatingIfNeeded: number)] else {
            throw Mismatch("row \(number) of \(count) is gone")
          }
        }
      }
    }
    try threads.join()
    #expect(try store.snapshot().rows(in: rows).count == total)
    try store.close()
  }

  /// Rows come and go under readers. A row is either there with one of its values or not there at all, and a scan is in
  /// order without duplicates.
  @Test func scansStayInOrderWhileRowsComeAndGo() throws {
    let machine = Machine()
    let store = try machine.openThreaded()
    let rows = try store.keyspace("rows")
    let isDone = Atomic<Bool>(false)
    let readers = Threads()
    for reverse in [false, true] {
      readers.start {
        while !isDone.load(ordering: .acquiring) {
          let found = try store.snapshot().rows(in: rows, reverse: reverse).map(\.key)
          for (first, second) in zip(found, found.dropFirst()) {
            guard reverse ? first > second : first < second else { throw Mismatch("\(first) before \(second)") }
          }
        }
      }
    }
    var random = SplitMix64(seed: 11)
    for _ in 0..<3000 {
      let key = KeyShape.tuples.key(Int.random(in: 0..<700, using: &random))
      if Bool.random(using: &random) {
        try store.put([1, 2, 3], at: key, in: rows, .buffered)
      } else {
        try store.delete(key, in: rows, .buffered)
      }
    }
    isDone.store(true, ordering: .releasing)
    try readers.join()
    // Compaction may have been at work when the last reader ended; it releases the versions it kept soon afterwards.
    try store.close()
    #expect(store.statistics.olderVersions == 0)
  }
}
