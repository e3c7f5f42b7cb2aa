/// Counts of nanoseconds, in buckets of one nanosecond below 64, and of at most a thirty-second of the value above.
struct Histogram {
  private var counts = [Int](repeating: 0, count: 60 * 32)
  private var total = 0
  private(set) var longest: UInt64 = 0

  @inline(__always)
  mutating func add(_ nanoseconds: UInt64) {
    let shift = max(0, 58 - nanoseconds.leadingZeroBitCount)
    counts[shift * 32 + Int(nanoseconds >> UInt64(shift))] += 1
    total += 1
    longest = max(longest, nanoseconds)
  }

  /// The value in microseconds that this part of all values does not exceed.
  func quantile(_ part: Double) -> Double {
    var left = Int((Double(total) * part).rounded(.up))
    for (bucket, count) in counts.enumerated() {
      left -= count
      guard left <= 0 else { continue }
      let shift = max(0, bucket / 32 - 1)
      return Double((bucket - shift * 32 + 1) << shift) / 1000
    }
    return Double(longest) / 1000
  }
}
