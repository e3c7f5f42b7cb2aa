import ArgumentParser

/// The workloads, in the order in which they are measured, with the names that RocksDB's and LevelDB's `db_bench` use.
enum Workload: String, CaseIterable, ExpressibleByArgument {
  case fillrandom
  case fillbatch
  case overwrite
  case readrandom
  case readrandom2
  case readmissing
  case readseq
  case seekrandom
  /// Comes before `readwhilewriting`, after which the stores' rows differ: how far its writer gets depends on the
  /// engine.
  case open
  case readwhilewriting
  case fillsync
  case fillsync8
  case fillsync16

  /// The name in the table, which has a separate column for the threads.
  var name: String {
    switch self {
    case .readrandom2: Workload.readrandom.name
    case .fillsync8, .fillsync16: Workload.fillsync.name
    default: rawValue
    }
  }

  var threads: Int {
    switch self {
    case .readrandom2: 2
    case .fillsync8: 8
    case .fillsync16: 16
    default: 1
    }
  }

  /// The number of threads in the table; `readwhilewriting` has one reader and one writer.
  var threadsLabel: String {
    self == .readwhilewriting ? "1+1" : String(threads)
  }

  var durability: String {
    switch self {
    case .fillrandom, .fillbatch, .overwrite, .readwhilewriting: Durability.buffered.rawValue
    case .fillsync, .fillsync8, .fillsync16: Durability.synced.rawValue
    case .readrandom, .readrandom2, .readmissing, .readseq, .seekrandom, .open: "-"
    }
  }

  /// Whether the workload starts from an empty store and leaves it filled.
  var isFill: Bool {
    self == .fillrandom || self == .fillbatch
  }

  /// Whether each commit is on the disk before the next; such a workload writes a small store of its own.
  var isSynced: Bool {
    durability == Durability.synced.rawValue
  }

  /// Whether the workload runs on the store that a fill left behind.
  var needsFill: Bool {
    !isFill && !isSynced
  }

  /// Whether the workload times lookups or scans.
  var reads: Bool {
    switch self {
    case .readrandom, .readrandom2, .readmissing, .readseq, .seekrandom, .readwhilewriting: true
    case .fillrandom, .fillbatch, .overwrite, .open, .fillsync, .fillsync8, .fillsync16: false
    }
  }

  /// Whether every engine must have read the same bytes. A reader beside a writer sees whichever version is there, so
  /// that only the lengths must agree.
  var comparesChecksums: Bool {
    self != .readwhilewriting
  }

  var unit: Unit {
    self == .open ? .milliseconds : .thousandsPerSecond
  }

  /// The unit of a figure.
  enum Unit: String {
    case thousandsPerSecond = "k/s"
    case milliseconds = "ms"
  }
}
