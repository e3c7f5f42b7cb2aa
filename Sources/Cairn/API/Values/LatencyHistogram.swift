/// How long something has taken, each time it was done. Times are known to an eighth.
public struct LatencyHistogram: Sendable, Hashable {
  /// How often it was done.
  public let count: Int
  /// The sum of all times.
  public let total: Duration
  /// The number of times in each bucket, the shorter ones first.
  private let counts: [Int]

  package init(_ counts: [Int], total: Int) {
    self.counts = counts
    self.total = .nanoseconds(total)
    count = counts.reduce(0, +)
  }

  /// The time that a part of all times do not exceed: 0.5 for the median, 1 for the longest. Zero if there are none.
  public func quantile(_ part: Double) -> Duration {
    guard count > 0 else { return .zero }
    let wanted = max(1, Int((part * Double(count)).rounded(.up)))
    var seen = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      if seen >= min(wanted, count) { return .nanoseconds(Self.upperBound(of: bucket)) }
    }
    return .zero
  }

  /// The difference to an earlier state of the same histogram.
  package func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
    LatencyHistogram(
      zip(counts, earlier.counts).map { $0 - $1 }, total: (total - earlier.total).nanoseconds)
  }

  // MARK: Buckets

  package static let bucketCount = 61 * 8

  /// The first eight buckets are for 0 to 7 nanoseconds; then each power of two has eight.
  package static func bucket(of nanoseconds: Int) -> Int {
    guard nanoseconds >= 8 else { return max(0, nanoseconds) }
    let exponent = Int.bitWidth - 1 - nanoseconds.leadingZeroBitCount
    return (exponent - 2) * 8 + (nanoseconds >> (exponent - 3)) & 7
  }

  private static func upperBound(of bucket: Int) -> Int {
    guard bucket >= 8 else { return bucket }
    let exponent = bucket / 8 + 2
    return (9 + bucket % 8) << (exponent - 3) - 1
  }
}

/// How long the calls and the work of a store have taken.
public struct StoreLatencies: Sendable, Hashable {
  /// Commits, from the end of the closure that fills the batch until the commit is as durable as was asked for. A wait
  /// for compaction after that does not count.
  public let commits: LatencyHistogram
  /// Reads of single rows in the latest state, closures that get the value in place included.
  public let gets: LatencyHistogram
  /// Syncs of the log. One may serve many commits.
  public let syncs: LatencyHistogram
  /// Pieces of compaction, between which other work of the store has its turn.
  public let compactionPieces: LatencyHistogram

  package init(
    commits: LatencyHistogram, gets: LatencyHistogram, syncs: LatencyHistogram, compactionPieces: LatencyHistogram
  ) {
    (self.commits, self.gets, self.syncs, self.compactionPieces) = (commits, gets, syncs, compactionPieces)
  }
}

extension Duration {
  /// The whole nanoseconds; the largest number if there are more.
  package var nanoseconds: Int {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = Int(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong ? .max : whole + Int(attoseconds / 1_000_000_000)
  }
}
