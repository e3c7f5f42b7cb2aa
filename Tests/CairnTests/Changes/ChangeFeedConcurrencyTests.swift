import CairnSimulation
import Dispatch
import Testing

@testable import Cairn

@Suite(.timeLimit(.minutes(3))) struct ChangeFeedConcurrencyTests {
  private let machine = Machine()

  private func start(_ store: Store) throws -> ChangePosition {
    try store.read { snapshot in try snapshot.position() }
  }

  @Test("A feed waits for changes, and ends when the store is closed.") func waiting() async throws {
    let store = try machine.openThreaded()
    let rows = try store.keyspace("rows")
    let feed = try store.changeFeed(since: start(store))
    async let keys = {
      var keys: [Key] = []
      for try await commit in feed {
        for case .put(let row, _) in commit.changes { keys.append(row.key) }
      }
      return keys
    }()
    for key in 0..<200 as Range<Int64> {
      try await store.submit { batch in try batch.put([1], at: .integer(key), in: rows) }
    }
    try rows.put([1], at: 200, durability: .buffered)
    try store.close()
    #expect(try await keys == (0...200).map { Key.integer($0) })
  }

  @Test("A thousand feeds that wait are all woken by one commit, and end when they are cancelled.")
  func many() async throws {
    let store = try machine.openThreaded()
    let rows = try store.keyspace("rows")
    let feed = try store.changeFeed(since: start(store))
    let seen = Lock(0)
    let all = Task {
      await withTaskGroup { group in
        for _ in 0..<1000 {
          group.addTask {
            do {
              for try await commit in feed { seen.withLock { $0 += commit.changes.count } }
            } catch { Issue.record(error) }
          }
        }
      }
    }
    for round in 1...3 {
      try rows.put([1], at: round)
      while seen.withLock({ $0 }) < round * 1000 { await Task.yield() }
    }
    all.cancel()
    await all.value
    #expect(seen.withLock { $0 } == 3000)
    #expect(store.log.syncs.durable.waiters.isEmpty)
    try store.close()
  }

  @Test("A feed of a store that can no longer write throws that.") func poisoned() async throws {
    let store = try machine.openThreaded()
    let rows = try store.keyspace("rows")
    try rows.put([1], at: 1)
    let feed = try store.changeFeed(since: start(store))
    async let end: StoreError? = {
      var iterator = feed.makeAsyncIterator()
      do throws(StoreError) {
        while try await iterator.next() != nil {}
        return nil
      } catch {
        return error
      }
    }()
    machine.files.failNext(.sync, with: .system(5))
    // A sync of the store's own threads may be the one that fails, while a commit still succeeds.
    var failed: StoreError?
    while failed == nil { failed = failure { try rows.put([2], at: 2) } }
    #expect(failed?.code == .poisoned)
    #expect(await end?.code == .poisoned)
  }

  @Test("Readers that read beside writers, compaction and checkpoints end with the rows of the store.")
  func besideWriters() async throws {
    let store = try machine.openThreaded()
    let names = ["a", "b"]
    let start = try start(store)
    for number in 0..<3 { try store.addChangeReader("reader \(number)", since: start) }
    let feed = try store.changeFeed(since: start)
    let readers = (0..<3).map { number in
      Task {
        var copy: [String: [Key: [UInt8]]] = [:]
        var last: CommitSequence = 0
        for try await commit in feed {
          #expect(commit.sequence >= last)
          last = commit.sequence
          for change in commit.changes {
            switch change {
            case .put(let row, let keyspace): copy[keyspace, default: [:]][row.key] = row.value
            case .deleted(let key, let keyspace): copy[keyspace]?[key] = nil
            case .dropped(let keyspace): copy[keyspace] = nil
            }
          }
          try store.acknowledge(commit.position, by: "reader \(number)")
        }
        return copy
      }
    }
    let seed = chooseSeed()
    let rounds = chooseRounds(6000, debug: 1500)
    await withTaskGroup { group in
      for writer in 0..<2 {
        group.addTask {
          var random = SplitMix64(seed: seed &+ UInt64(writer))
          do {
            for round in 0..<rounds {
              let keyspace = try store.keyspace(names[Int.random(in: 0..<2, using: &random)])
              let key = Key.integer(Int64.random(in: 0..<50, using: &random))
              let durability: Durability = round.isMultiple(of: 7) ? .durable : .buffered
              if Bool.random(using: &random) {
                try keyspace.delete(key, durability: durability)
              } else {
                let value = [UInt8].noise(Int.random(in: 0..<600, using: &random), seed: random.next())
                try keyspace.put(value, at: key, durability: durability)
              }
            }
          } catch { Issue.record(error) }
        }
      }
      group.addTask {
        do {
          for _ in 0..<rounds / 100 {
            try store.compact(.everything)
            try store.checkpoint()
            await Task.yield()
          }
        } catch { Issue.record(error) }
      }
    }
    var rows: [String: [Key: [UInt8]]] = [:]
    for name in names {
      for row in try store.snapshot().rows(in: store.keyspace(name)) { rows[name, default: [:]][row.key] = row.value }
    }
    try store.close()
    for reader in readers {
      let copy = try await reader.value
      #expect(copy.filter { !$0.value.isEmpty } == rows)
    }
  }
}
