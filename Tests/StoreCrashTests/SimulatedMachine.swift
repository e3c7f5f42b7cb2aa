import Cairn
import CairnSimulation
import Synchronization

/// A machine with a disk in memory, as the engine sees it. The same seed gives the same machine.
final class SimulatedMachine: Sendable {
  let files: MemoryFileLayer
  let scheduler = ManualScheduler()
  private let random: Lock<SplitMix64>
  private let time = Atomic<UInt64>(1_700_000_000_000_000_000)

  init(_ files: MemoryFileLayer, seed: UInt64) {
    self.files = files
    random = Lock(SplitMix64(seed: seed))
  }

  var environment: Environment {
    Environment(
      files: files, clock: { [self] in time.add(1000, ordering: .relaxed).newValue },
      random: { [self] in random.withLock { $0.next() } }, scheduler: scheduler)
  }
}
