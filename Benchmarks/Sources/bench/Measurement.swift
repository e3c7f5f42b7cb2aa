/// One engine's run of one workload in one round.
struct Measurement: Sendable {
  let engine: EngineKind
  let workload: Workload
  let round: Int
  let operations: Int
  let nanoseconds: UInt64
  /// What was read, or read back afterwards; nothing for a plain fill.
  let reading: Reading?
  /// Thousands of puts a second beside the reads of `readwhilewriting`.
  var besideWrites: Double?

  /// The figure in the workload's unit.
  var figure: Double {
    switch workload.unit {
    case .thousandsPerSecond: Double(operations) / Double(nanoseconds) * 1_000_000
    case .milliseconds: Double(nanoseconds) / 1_000_000
    }
  }

  /// How many times as good as `other`: more operations, or fewer milliseconds.
  func advantage(over other: Measurement) -> Double {
    workload.unit == .milliseconds ? other.figure / figure : figure / other.figure
  }
}

/// What a round's fill left behind.
struct Footprint: Sendable {
  let engine: EngineKind
  let round: Int
  /// Bytes on disk once the filled store was closed and opened again.
  let bytesAfterFill: Int
  /// Growth of memory that belongs to no file over opening and filling; the first round's is the one to read.
  let memoryGrowth: Int?
  /// Bytes on disk after all workloads of the round and a close.
  var bytesAtEnd = 0
}
