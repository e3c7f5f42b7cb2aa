import Cairn
import CairnSimulation
import Synchronization
import Testing

/// Snapshots, keyspaces and the store end while another thread, or the same one, is using them.
@Suite struct EndingConcurrencyTests {
  private func filled(_ store: Store, _ order: Keyspace.Order) throws -> Keyspace {
    let rows = try store.keyspace("rows", order: order)
    try store.write(durability: .buffered) { batch in
      for number in 0..<3000 as Range<Int64> { try batch.put([1, 2, 3], at: .integer(number), in: rows) }
    }
    return rows
  }

  /// The keyspace's leaves and pages were once given back, and the walk went on into whatever replaced them.
  @Test(
    "A scan throws `closed` if its snapshot ends while its keyspace is dropped, and reads no freed memory.",
    arguments: [Keyspace.Order.ordered, .unordered])
  func walks(_ order: Keyspace.Order) throws {
    let store = try Machine().open()
    let rows = try filled(store, order)
    let others = try store.keyspace("others")
    let snapshot = store.snapshot()
    var count = 0
    let error = failure {
      try snapshot.scan(in: rows) { _, _, _ in
        count += 1
        guard count == 1 else { return .next }
        snapshot.close()
        try store.drop(rows)
        // Nodes of other rows take the place of those that were given back.
        for number in 0..<6000 as Range<Int64> {
          try store.put([4], at: [.integer(number), "a longer key"], in: others, .buffered)
        }
        return .next
      }
    }
    #expect(error?.code == .closed)
    #expect(count < 3000)
    #expect(try store.read { try $0.count(.all, in: others) } == 6000)
  }

  @Test("A scan whose snapshot ends throws `closed` and does not report removed rows as missing.")
  func missingRows() throws {
    let store = try Machine().open()
    let rows = try filled(store, .ordered)
    let snapshot = store.snapshot()
    try store.delete(7, in: rows, .buffered)
    let error = failure {
      try snapshot.scan(in: rows) { _, _, _ in
        snapshot.close()
        return .next
      }
    }
    #expect(error?.code == .closed)
  }

  /// The batch once held no reference that kept the keyspace alive.
  @Test("A batch is refused if its keyspace was dropped while the batch was made, and nobody else refers to it.")
  func batches() throws {
    let store = try Machine().open()
    for count in [1, 2] {
      for isWritten in [false, true] {
        if isWritten { try store.put([1], at: 1, in: store.keyspace("rows")) }
        let error = failure {
          try store.write { batch in
            for number in 0..<Int64(count) { try batch.put([2], at: .integer(number), in: store.keyspace("rows")) }
            try store.drop(store.keyspace("rows"))
            for number in 0..<100 { _ = try store.keyspace("\(number)") }
          }
        }
        #expect(error?.code == .keyspaceDropped)
      }
    }
  }

  @Test("A batch of several changes to a dropped keyspace is refused and reads no freed memory.")
  func droppedKeyspaces() throws {
    let store = try Machine().open()
    let rows = try filled(store, .ordered)
    try store.drop(rows)
    let others = try store.keyspace("others")
    for number in 0..<6000 as Range<Int64> { try store.put([4], at: .integer(number), in: others, .buffered) }
    let error = failure {
      try store.write { batch in
        for number in 0..<3000 as Range<Int64> { try batch.put([5], at: .integer(number), in: rows) }
      }
    }
    #expect(error?.code == .keyspaceDropped)
  }

  /// A thread that syncs first publishes what is durable and then writes it to a file; closing once did so at the same
  /// time.
  @Test("A store can be closed while other threads sync it.")
  func closing() throws {
    for _ in 0..<chooseRounds(200, debug: 20) {
      let machine = Machine()
      let store = try machine.openThreaded()
      let rows = try store.keyspace("rows")
      let acknowledged = Atomic<Int>(0)
      let threads = Threads()
      for number in 0..<3 as Range<Int64> {
        threads.start {
          do {
            for count in 0..<50 as Range<Int64> {
              try store.put([1], at: [.integer(number), .integer(count)], in: rows)
              acknowledged.add(1, ordering: .relaxed)
            }
          } catch let error as StoreError where error.code == .closed {}
        }
      }
      while acknowledged.load(ordering: .relaxed) < 5 {}
      try store.close()
      try threads.join()
      let again = try machine.crash().open()
      let count = try again.read { try $0.count(.all, in: again.keyspace("rows")) }
      #expect(count == acknowledged.load(ordering: .relaxed))
    }
  }

  /// The store has found a commit whose durability is not known, and has written nothing.
  @Test("A sync after closing throws `closed` and touches no file, though a commit may not be durable.")
  func syncing() throws {
    let before = Machine()
    let first = try before.open()
    try first.put([1], at: 1, in: first.keyspace("rows"))
    try first.put([2], at: 2, in: first.keyspace("rows"), .buffered)
    let store = try before.kill().open()
    try #require(store.durableSequence < store.lastSequence)
    try store.close()
    #expect(failure { try store.sync() }?.code == .closed)
    #expect(!store.isPoisoned)
  }

  /// Uses no clock: if `statistics` waited, the test would never end.
  @Test("Reading the statistics does not wait for a manifest that is being written.")
  func statistics() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("rows"))
    let held = HeldOperation(.rename, of: machine.files)
    let writer = Threads()
    writer.start {
      defer { held.hasPassed() }
      try store.checkpoint()
    }
    try #require(held.waitForArrival())
    #expect(store.statistics.rows == 1)
    #expect(store.statistics.checkpointBytes == 0)
    held.letGo()
    try writer.join()
    #expect(store.statistics.checkpointBytes > 0)
  }
}
