import CairnSimulation
import Testing

@testable import Cairn

@Suite struct SnapshotRegistryTests {
  @Test("The snapshot registry answers like a plain list, in whatever order snapshots end.")
  func isAList() {
    var random = SplitMix64(seed: chooseSeed())
    for _ in 0..<chooseRounds(60, debug: 6) {
      let registry = SnapshotRegistry()
      var published: CommitSequence = 1
      var held: [CommitSequence] = []
      // How often, in twentieths, the snapshot to end is the oldest or the newest; otherwise it is any.
      let endsOldest = Int.random(in: 0...8, using: &random)
      let endsNewest = Int.random(in: 0...8, using: &random)
      for step in 0..<3000 {
        if held.isEmpty || Int.random(in: 0..<(step < 1500 ? 10 : 16), using: &random) < 8 {
          published = CommitSequence(published.rawValue + .random(in: 0...2, using: &random))
          held.append(registry.register { published })
        } else {
          let choice = Int.random(in: 0..<20, using: &random)
          let index =
            choice < endsOldest
            ? 0 : choice < endsOldest + endsNewest ? held.count - 1 : Int.random(in: held.indices, using: &random)
          let sequence = held.remove(at: index)
          #expect(registry.release(sequence) == !held.contains(sequence))
        }
        #expect(registry.oldest == held.first)
        #expect(registry.isEmpty == held.isEmpty)
        let upper = CommitSequence(.random(in: 0...published.rawValue + 1, using: &random))
        let lower = CommitSequence(.random(in: 0...upper.rawValue, using: &random))
        #expect(registry.newest(from: lower, below: upper) == held.last { (lower..<max(upper, lower)).contains($0) })
      }
    }
  }

  @Test("G6: A snapshot is registered before it reads its sequence, so that no commit drops what it sees.")
  func countedFirst() {
    let registry = SnapshotRegistry()
    let sequence = registry.register {
      #expect(!registry.isEmpty)
      return 7
    }
    #expect(sequence == 7 && registry.oldest == 7)
    #expect(registry.release(sequence))
    #expect(registry.isEmpty)
  }

  @Test(
    "G23: Many snapshots can end in any order, and then keep no versions.",
    arguments: ["oldest first", "newest first", "shuffled"])
  func many(_ order: String) throws {
    let store = try Machine().open()
    let rows = try store.keyspace("rows")
    var snapshots: [Snapshot] = []
    for number in 0..<2000 {
      try store.put([UInt8(number % 251)], at: .integer(Int64(number % 1000)), in: rows, .buffered)
      snapshots.append(store.snapshot())
    }
    var random = SplitMix64(seed: 3)
    switch order {
    case "newest first": snapshots.reverse()
    case "shuffled": snapshots.shuffle(using: &random)
    default: break
    }
    for snapshot in snapshots { snapshot.close() }
    #expect(store.statistics.snapshots == 0)
    #expect(store.statistics.olderVersions == 0)
  }
}
