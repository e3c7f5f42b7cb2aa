import Cairn
import Synchronization

/// A simulated machine with a store on it. The same seed gives the same machine.
final class SimulatedMachine: Sendable {
  static let path = "/store"

  let files: MemoryFileLayer
  let scheduler = ManualScheduler()
  private let random: Lock<SplitMix64>
  private let time: Atomic<UInt64>

  init(_ files: MemoryFileLayer, seed: UInt64) {
    self.files = files
    random = Lock(SplitMix64(seed: seed))
    time = Atomic(1_700_000_000_000_000_000 + seed % 1_000_000)
  }

  func open(
    _ options: Program.Options, _ access: StoreOptions.Access = .readWrite, upTo last: CommitSequence? = nil
  ) throws(StoreError) -> Store {
    var storeOptions = StoreOptions()
    storeOptions.segmentSize = options.segmentSize
    storeOptions.compresses = options.compression
    storeOptions.writesCheckpoints = options.checkpoints
    storeOptions.compacts = options.compaction
    storeOptions.trainsDictionaries = options.dictionaries
    storeOptions.firstTraining = 1 << 11
    if options.isTight { storeOptions.compactionSize = 1 << 7 }
    storeOptions.access = access
    storeOptions.upTo = last
    let environment = Environment(
      files: files, clock: { [self] in time.add(1000, ordering: .relaxed).newValue },
      random: { [self] in random.withLock { $0.next() } }, scheduler: scheduler)
    return try Store.open(at: Self.path, options: storeOptions, environment: environment)
  }

  /// False if closing has thrown an error.
  @discardableResult
  func close(_ store: Store) -> Bool {
    do throws(StoreError) { try store.close() } catch { return false }
    return true
  }
}
