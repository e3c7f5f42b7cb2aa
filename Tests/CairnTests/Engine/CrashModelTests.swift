import Cairn
import Synchronization
import Testing

/// The power fails before each operation of a program, in several ways.
@Suite struct CrashModelTests {
  private struct Change {
    var keys: [Int64]
    var isDelete: Bool
    var size: Int
    var durability: Durability
    var runsBackground: Bool
    var reopens: Bool
  }

  private func program(_ random: inout SplitMix64) -> [Change] {
    (0..<Int.random(in: 2...9, using: &random)).map { _ in
      Change(
        keys: (0..<Int.random(in: 1...4, using: &random)).map { _ in .random(in: 0..<12, using: &random) },
        isDelete: Int.random(in: 0..<4, using: &random) == 0,
        size: Int.random(in: 0..<3, using: &random) == 0 ? 30_000 : .random(in: 0..<700, using: &random),
        durability: Bool.random(using: &random) ? .durable : .buffered,
        runsBackground: Int.random(in: 0..<3, using: &random) == 0,
        reopens: Int.random(in: 0..<5, using: &random) == 0)
    }
  }

  private final class Log: Sendable {
    struct State {
      var states: [[Int64: [UInt8]]] = [[:]]
      /// How many commits are known to be durable.
      var durable = 0
    }

    let state = Mutex(State())
  }

  private func run(_ program: [Change], _ machine: Machine, _ log: Log) throws {
    var store = try machine.open()
    for (number, change) in program.enumerated() {
      if change.reopens {
        store.close()
        store = try machine.open()
      }
      let rows = try store.keyspace("rows", .ordered)
      var state = log.state.withLock { $0.states[$0.states.count - 1] }
      let value = [UInt8].noise(change.size, seed: UInt64(number))
      for key in change.keys { state[key] = change.isDelete ? nil : value }
      // It may be found from the moment it is begun.
      log.state.withLock { $0.states.append(state) }
      try store.write(change.durability) { batch in
        for key in change.keys {
          if change.isDelete {
            try batch.delete(.integer(key), in: rows)
          } else {
            try batch.put(value, at: .integer(key), in: rows)
          }
        }
      }
      if change.durability == .durable { log.state.withLock { $0.durable = $0.states.count - 1 } }
      if change.runsBackground { machine.runBackground() }
    }
    store.close()
  }

  private func rows(_ store: Store) throws -> [Int64: [UInt8]] {
    var found: [Int64: [UInt8]] = [:]
    for row in try store.read({ try $0.rows(in: store.keyspace("rows")) }) {
      if case .integer(let key) = row.reference { found[key] = row.value }
    }
    return found
  }

  @Test("rules 5 to 8 and 13: whenever the power fails, a beginning of the program is found with all that was durable")
  func everyOperation() throws {
    let seed = chooseSeed()
    for round in 0..<UInt64(chooseRounds(60, debug: 1)) {
      let own = seed &+ round
      var random = SplitMix64(seed: own)
      let program = program(&random)
      let counter = Counter()
      let whole = Machine(seed: own)
      whole.files.gate = { _, _ in counter.add() }
      try run(program, whole, Log())
      for stop in 0..<counter.count {
        let machine = Machine(seed: own)
        let log = Log()
        let reached = Counter()
        let found = Mutex<[(MemoryFileLayer, Log.State)]>([])
        machine.files.gate = { [files = machine.files] _, _ in
          defer { reached.add() }
          guard reached.count == stop else { return }
          let state = log.state.withLock { $0 }
          var random = SplitMix64(seed: own ^ UInt64(stop))
          let crashes = [files.crash(), files.crash(using: &random), files.crash(using: &random)]
          found.withLock { $0 = crashes.map { ($0, state) } }
        }
        try run(program, machine, log)
        machine.files.gate = nil
        for (number, (files, state)) in found.withLock({ $0 }).enumerated() {
          let place = "CAIRN_SEED=\(own), operation \(stop), crash \(number)"
          var crashed = Machine(files, seed: own &+ 1)
          let store: Store
          do {
            store = try crashed.open()
          } catch {
            Issue.record("\(place): \(error)")
            return
          }
          let rows = try rows(store)
          guard state.states[state.durable...].contains(rows) else {
            Issue.record("\(place): \(rows.count) rows that are no state from commit \(state.durable) on")
            return
          }
          // It goes on from there, and a second crash takes nothing.
          try store.put([7], at: 100, in: store.keyspace("rows"))
          crashed = crashed.crash()
          let again = try crashed.open()
          var expected = rows
          expected[100] = [7]
          guard try self.rows(again) == expected else {
            Issue.record("\(place): lost after the second crash")
            return
          }
        }
      }
    }
  }
}
