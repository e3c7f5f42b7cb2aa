import CairnSimulation
import Testing

@testable import Cairn

/// A store opened from a checkpoint equals the store opened from its log alone.
@Suite struct CheckpointModelTests {
  private struct Found: Equatable {
    var rows: [[String]] = []
    var reversed: [String] = []
    var byKey: [String] = []
    var counts: [Int] = []
    var segments = 0
    var logBytes = 0
    var liveBytes = 0
    var lastSequence: CommitSequence = 0
  }

  private func read(_ store: Store) throws -> Found {
    var found = Found()
    for (name, order) in [("ordered", Keyspace.Order.ordered), ("loose", .unordered)] {
      let keyspace = try store.keyspace(name, order: order)
      let snapshot = store.snapshot()
      let rows = try snapshot.rows(in: keyspace)
      found.rows.append(rows.map { "\($0)" }.sorted())
      found.counts.append(try snapshot.count(in: keyspace))
      if order == .ordered {
        #expect(
          rows.map(\.key) == rows.map(\.key).sorted { $0.encoded.precedes($1.encoded) })
        found.reversed = try snapshot.rows(in: keyspace, reverse: true).map { "\($0)" }
      }
      for row in rows { found.byKey.append("\(String(describing: try store.row(row.key, in: keyspace)))") }
      if order == .unordered { found.byKey.sort() }
    }
    let statistics = store.statistics
    (found.segments, found.logBytes) = (statistics.segments, statistics.logBytes)
    (found.liveBytes, found.lastSequence) = (statistics.liveBytes, statistics.lastSequence)
    return found
  }

  private func key(_ random: inout SplitMix64, _ shape: Int) -> Key {
    let number = Int64.random(in: 0..<600, using: &random)
    return switch shape {
    case 0: .integer(number)
    case 1: .string("all of these keys begin with the same words, and end with \(number)")
    default: .bytes(.noise(Int(number) % 90, seed: UInt64(number)))
    }
  }

  private func run(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var machine = Machine(seed: seed)
    let shape = Int.random(in: 0..<3, using: &random)
    var snapshots: [Snapshot] = []
    var store = try machine.open()
    for _ in 0..<Int.random(in: 40...400, using: &random) {
      let keyspaces = [try store.keyspace("ordered"), try store.keyspace("loose", order: .unordered)]
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<3: try store.checkpoint()
      case 61: try store.drop(keyspaces[Int.random(in: 0..<2, using: &random)])
      case 3..<9: snapshots.append(store.snapshot())
      case 9..<14: if !snapshots.isEmpty { snapshots.remove(at: .random(in: snapshots.indices, using: &random)) }
      case 14..<60: for _ in 0..<Int.random(in: 1...3, using: &random) { machine.runOneInBackground() }
      case 60:
        snapshots = []
        if Bool.random(using: &random) { try store.close() }
        machine = Bool.random(using: &random) ? try machine.kill() : machine.crash(using: &random)
        store = try machine.open()
      default:
        try store.write(durability: Bool.random(using: &random) ? .durable : .buffered) { batch in
          for _ in 0..<Int.random(in: 1...24, using: &random) {
            let keyspace = keyspaces[Int.random(in: 0..<2, using: &random)]
            let key = key(&random, shape)
            if Int.random(in: 0..<3, using: &random) == 0 {
              try batch.delete(key, in: keyspace)
            } else {
              try batch.put(.noise(.random(in: 0..<400, using: &random), seed: random.next()), at: key, in: keyspace)
            }
          }
        }
      }
    }
    snapshots = []
    if Bool.random(using: &random) { try store.checkpoint() }
    machine = try machine.kill()

    let withCheckpoint = try machine.open()
    let found = try read(withCheckpoint)
    let used = withCheckpoint.recovery
    try withCheckpoint.close()
    #expect(used.ignoredCheckpoints == [])
    var plain = try machine.kill()
    for path in plain.contents.keys where path.hasSuffix(".checkpoint") { try plain.files.remove(path) }
    plain = try plain.kill()
    let withoutCheckpoint = try plain.open()
    #expect(try read(withoutCheckpoint) == found)
    #expect(withoutCheckpoint.recovery.checkpoint == nil)
    Self.uses.withLock { $0 += used.checkpoint == nil ? 0 : 1 }

    // The store opened from the checkpoint can be written to, like the one opened from the log.
    let rows = try withoutCheckpoint.keyspace("ordered")
    let again = try machine.open()
    let sameRows = try again.keyspace("ordered")
    for number in 0..<200 {
      let key = key(&random, shape)
      for (store, rows) in [(withoutCheckpoint, rows), (again, sameRows)] {
        if number % 3 == 0 {
          try store.delete(key, in: rows, .buffered)
        } else {
          try store.put([UInt8(number)], at: key, in: rows, .buffered)
        }
      }
    }
    #expect(try again.texts(sameRows) == withoutCheckpoint.texts(rows))
  }

  private static let uses = Lock(0)

  @Test func aCheckpointAndTheRestOfTheLogGiveWhatTheWholeLogGives() throws {
    var seeds = SplitMix64(seed: chooseSeed())
    let rounds = chooseRounds(60, debug: 5)
    for round in 0..<rounds {
      let seed = round == 0 ? 1 : seeds.next()
      do {
        try run(seed)
      } catch {
        Issue.record("seed \(seed): \(error)")
        throw error
      }
    }
    // Most programs leave a usable checkpoint, but not every one does.
    #expect(Self.uses.withLock { $0 } > rounds / 4)
  }
}
