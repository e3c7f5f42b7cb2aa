import Foundation

/// The results of a load, as text.
struct Report: CustomStringConvertible {
  let tally: Tally
  let elapsed: Duration
  let saves: Int
  let conflicts: Int
  let storeBytes: Int
  let memory: MemorySamples

  var description: String {
    var lines = ["           requests  a second   p50 ms   p99 ms"]
    for kind in Tally.Kind.allCases {
      let latencies = tally.latencies[kind, default: []].sorted()
      lines.append(
        kind.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
          + String(
            format: "%10d%10.0f%9.2f%9.2f", latencies.count, Double(latencies.count) / (elapsed / .seconds(1)),
            milliseconds(latencies, 0.5), milliseconds(latencies, 0.99)))
    }
    let attempts = max(1, saves + conflicts)
    lines.append(
      String(
        format: "%d transfers saved, %d conflicts: %.1f %% of all saves", saves, conflicts,
        100 * Double(conflicts) / Double(attempts)))
    lines.append("\(tally.contended) transfers given up after conflicts, \(tally.uncovered) not covered by the balance")
    lines.append("\(tally.tornReads) torn reads")
    lines.append("store: \(megabytes(storeBytes))")
    for (time, sample) in zip(["a tenth", "half", "all"], memory.samples) {
      lines.append(
        "memory after \(time) of the time: \(megabytes(sample.memoryBytes)), \(megabytes(sample.indexBytes)) of it "
          + "the index; and \(megabytes(sample.mappedBytes)) of mapped files")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func milliseconds(_ sorted: [Duration], _ quantile: Double) -> Double {
    sorted.isEmpty ? 0 : sorted[Int(quantile * Double(sorted.count - 1))] / .milliseconds(1)
  }

  private func megabytes(_ bytes: Int) -> String { String(format: "%.1f MB", Double(bytes) / 1e6) }
}
