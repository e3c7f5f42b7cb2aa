import Cairn

/// A store under a workload, and samples of its statistics.
final class Trial {
  /// The statistics at one time, in bytes except for `writes`.
  struct Sample {
    var writes: Int
    var log: Int
    var live: Int
    var needed: Int
    /// Bytes added by commits, and by compaction, since the store was created.
    var appended: Int
    var compacted: Int

    func bound(_ segment: Int) -> Int { needed * 13 / 10 + 4 * segment }
  }

  let name: String
  let rows: Int
  let options: StoreOptions
  private(set) var store: Store
  private(set) var samples: [Sample] = []
  /// The time that the measured writes took.
  private(set) var elapsed = Duration.zero
  private let path: String
  private let pool: Rows
  private let batch: Int
  private let progress: Progress
  private var writes = 0
  /// The totals from before the store was last opened.
  private var before = (appended: 0, compacted: 0)

  init(
    _ name: String, at path: String, rows: Int, batch: Int, pool: Rows, options: StoreOptions, progress: Progress
  ) throws {
    self.name = name
    self.path = path
    self.rows = rows
    self.batch = batch
    self.pool = pool
    self.options = options
    self.progress = progress
    store = try Store.open(at: path, options: options)
  }

  func keyspace(_ name: String = "rows") throws -> Keyspace { try store.keyspace(name) }

  /// What a step does.
  enum Change {
    case put(Int)
    case delete(Int)
  }

  /// Makes `count` changes, and takes a sample after each `rows / 100` of them, but at most one per commit.
  func run(_ count: Int, in name: String = "rows", _ change: (Int) -> Change) throws {
    let keyspace = try keyspace(name)
    let clock = ContinuousClock()
    let interval = max(batch, rows / 100)
    var step = 0
    while step < count {
      let end = min(count, step + interval)
      elapsed += try clock.measure {
        while step < end {
          let last = min(end, step + batch)
          try store.write(durability: .buffered) { batch in
            while step < last {
              switch change(step) {
              case .put(let row): try pool.put(row, writes &+ step, in: keyspace, &batch)
              case .delete(let row): try pool.delete(row, in: keyspace, &batch)
              }
              step += 1
            }
          }
        }
      }
      sample(writes + step)
      progress.show("\(self.name)  \(step * 100 / count) %")
    }
    writes += count
  }

  func sample(_ writes: Int? = nil) {
    let statistics = store.statistics
    samples.append(
      Sample(
        writes: writes ?? self.writes, log: statistics.logBytes, live: statistics.liveBytes,
        needed: statistics.liveBytes + statistics.pinnedBytes, appended: before.appended + statistics.appendedBytes,
        compacted: before.compacted + statistics.compactedBytes))
  }

  /// Discards the measurements so far, which belong to the preparation.
  func forget() {
    samples = []
    elapsed = .zero
    writes = 0
  }

  func reopen() throws {
    try close()
    store = try Store.open(at: path, options: options)
  }

  func close() throws {
    try store.close()
    let statistics = store.statistics
    before = (before.appended + statistics.appendedBytes, before.compacted + statistics.compactedBytes)
  }

  // MARK: Figures

  /// The second half of the samples, which are of the steady state.
  private var steady: ArraySlice<Sample> { samples[(samples.count / 2)...] }

  var rowsPerSecond: Double { Double(writes) / (elapsed / .seconds(1)) }

  var logMax: Int { samples.map(\.log).max() ?? 0 }

  var end: Sample { samples[samples.count - 1] }

  /// The largest ratio of log to needed bytes in the steady state.
  var worst: Double { steady.map { Double($0.log) / Double(max(1, $0.needed)) }.max() ?? .nan }

  /// The same ratio without the four segments that are always allowed, its maximum and its mean.
  var spared: (worst: Double, mean: Double) {
    let ratios = steady.map { Double($0.log - 4 * options.segmentSize) / Double(max(1, $0.needed)) }
    return (ratios.max() ?? .nan, ratios.reduce(0, +) / Double(ratios.count))
  }

  var isBounded: Bool { samples.allSatisfy { $0.log <= $0.bound(options.segmentSize) } }

  /// Bytes written by commits and compaction for each byte that commits have added.
  var amplification: Double {
    guard let first = steady.first, let last = steady.last, last.appended > first.appended else { return .nan }
    let appended = Double(last.appended - first.appended)
    return (appended + Double(last.compacted - first.compacted)) / appended
  }
}
