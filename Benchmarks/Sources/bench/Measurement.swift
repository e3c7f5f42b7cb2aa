/// One run of one workload with one engine in one round.
struct Measurement: Sendable {
  let engine: EngineKind
  let workload: Workload
  let round: Int
  let operations: Int
  let nanoseconds: UInt64
  /// The bytes that were read during the workload or after it; nil for workloads that only write.
  let reading: Reading?
  /// Thousands of puts per second that ran beside the reads of `readwhilewriting`.
  var besideWrites: Double?

  /// The figure in the workload's unit.
  var figure: Double {
    switch workload.unit {
    case .thousandsPerSecond: Double(operations) / Double(nanoseconds) * 1_000_000
    case .milliseconds: Double(nanoseconds) / 1_000_000
    }
  }

  /// How many times as good as `other` this is: more operations, or fewer milliseconds.
  func advantage(over other: Measurement) -> Double {
    workload.unit == .milliseconds ? other.figure / figure : figure / other.figure
  }
}

/// The disk space and memory that an engine takes in a round.
struct Footprint: Sendable {
  let engine: EngineKind
  let round: Int
  /// Bytes on disk after the filled store was closed and opened again.
  let bytesAfterFill: Int
  /// The growth of memory that belongs to no file, from before the opening to after the fill. Only the first round's
  /// value is meaningful.
  let memoryGrowth: Int?
  /// Bytes on disk after all workloads of the round and a close.
  var bytesAtEnd = 0
}
