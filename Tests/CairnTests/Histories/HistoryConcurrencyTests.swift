import Cairn
import CairnSimulation
import Foundation
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Random histories of several threads on a few rows have to be linearizable, and their commits numbered in the order
/// of real time. `CAIRN_SEED` gives every thread the same program again; how the threads interleave is up to the
/// machine.
@Suite struct HistoryConcurrencyTests {
  private static let historiesPerStore = 20

  /// Rows in one keyspace or in two, of either order, adjacent in the index or not.
  private func rows(_ store: Store, _ random: inout SplitMix64) throws -> [(keyspace: Keyspace, key: Key)] {
    let ordered = try store.keyspace("ordered")
    let unordered = try store.keyspace("unordered", order: .unordered)
    let count = Int.random(in: 1...3, using: &random)
    let shape = KeyShape.allCases[Int.random(in: 0..<KeyShape.allCases.count, using: &random)]
    let mix = Int.random(in: 0..<3, using: &random)
    return (0..<count).map { number in
      (mix == 0 || (mix == 1 && number == 0) ? unordered : ordered, shape.key(number))
    }
  }

  private func shape(_ random: inout SplitMix64) -> HistoryRecorder.Shape {
    let threads = Int.random(in: 3...5, using: &random)
    return HistoryRecorder.Shape(
      threads: threads, callsPerThread: Int.random(in: 4...120 / threads, using: &random),
      histories: Self.historiesPerStore)
  }

  /// Records histories of one store, checks them, and closes the store; returns how many there were. The same `rowSeed`
  /// gives the same rows.
  private func check(_ store: Store, rowsOf rowSeed: UInt64, seed: UInt64) throws -> Int {
    var rowRandom = SplitMix64(seed: rowSeed)
    var random = SplitMix64(seed: ~seed)
    let recorder = HistoryRecorder(
      store, rows: try rows(store, &rowRandom), seed: random.next(), shape: shape(&random))
    let recordings = try recorder.record()
    for (number, recording) in recordings.enumerated() {
      do {
        try RowsModel.check(recording.calls, from: recording.initial)
      } catch {
        throw Mismatch("CAIRN_SEED=\(seed), history \(number): \(error)")
      }
    }
    // A checkpoint in progress counts as a snapshot until the store is closed.
    try store.close()
    try #require(store.statistics.snapshots == 0)
    try #require(store.statistics.olderVersions == 0)
    return recordings.count
  }

  @Test("G5: Histories of several threads are linearizable.")
  func inMemory() throws {
    let seed = chooseSeed()
    var histories = 0
    for round in 0..<UInt64(chooseRounds(250, debug: 3)) {
      let own = seed &+ round
      let machine = Machine(seed: own)
      // Threads yield now and then in the middle of a commit.
      let calls = Atomic<UInt64>(0)
      machine.files.gate = { _, _ in
        var random = SplitMix64(seed: own ^ calls.add(1, ordering: .relaxed).newValue)
        if random.next() & 3 == 0 { sched_yield() }
      }
      let store = try machine.openThreaded()
      histories += try check(store, rowsOf: own, seed: own)
    }
    print("\(histories) histories")
  }

  @Test("G5: Histories of several threads on real files, across openings, are linearizable.")
  func onFiles() throws {
    let seed = chooseSeed()
    var histories = 0
    for round in 0..<UInt64(chooseRounds(4, debug: 1)) {
      try withTemporaryDirectory { directory in
        for opening in 0..<2 as Range<UInt64> {
          var options = Machine.options
          options.compresses = opening == 0
          let store = try Store.open(at: "\(directory)/store", options: options)
          // The first commit of an epoch has a number after a gap.
          try store.put([], at: "first", in: store.keyspace("openings"))
          histories += try check(store, rowsOf: seed &+ round, seed: seed &+ round &* 2 &+ opening)
        }
      }
    }
    print("\(histories) histories")
  }
}
