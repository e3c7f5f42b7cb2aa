/// Counts sizes in buckets by powers of two.
package struct SizeHistogram: Sendable, Hashable {
  /// Bucket 0 counts sizes of 0 bytes, bucket n sizes of 2ⁿ⁻¹ to 2ⁿ − 1 bytes.
  private var counts = [Int](repeating: 0, count: 65)
  package private(set) var count = 0
  package private(set) var sum = 0
  package private(set) var largest = 0

  package init() {}

  package mutating func add(_ size: Int) {
    counts[Int.bitWidth - size.leadingZeroBitCount] += 1
    count += 1
    sum += size
    largest = max(largest, size)
  }

  /// The buckets from the first to the last that is not empty.
  package var buckets: [(sizes: ClosedRange<Int>, count: Int)] {
    guard let first = counts.firstIndex(where: { $0 > 0 }), let last = counts.lastIndex(where: { $0 > 0 }) else {
      return []
    }
    return (first...last).map { bucket in
      (bucket == 0 ? 0...0 : (1 << (bucket - 1))...((1 << (bucket - 1)) - 1 + (1 << (bucket - 1))), counts[bucket])
    }
  }
}
