import Cairn
import CairnSimulation
import Foundation
import IncrementalStore
import Synchronization

@testable import CairnIncrementalStore

/// A machine with a disk in memory, on which Cairn keeps the rows of a store.
final class CrashMachine: Sendable {
  static let url = URL(filePath: "/simulated store")

  let files: MemoryFileLayer
  /// What the engine does beside its calls, when a test says so.
  let scheduler = ManualScheduler()
  private let random = Mutex(SplitMix64(seed: 1))
  private let time = Atomic<UInt64>(1_700_000_000_000_000_000)

  init(_ files: MemoryFileLayer) { self.files = files }

  func rowStore() throws -> any RowStore {
    var options = CairnOptions()
    options.engineOptions.segmentSize = 1 << 16
    options.engineOptions.compactionSize = 1 << 9
    options.engineOptions.firstTraining = 1 << 12
    options.environment = Environment(
      files: files, clock: { [self] in time.add(1000, ordering: .relaxed).newValue },
      random: { [self] in random.withLock { $0.next() } }, scheduler: scheduler)
    return try CairnRowStore(at: Self.url, options)
  }
}
