import ArgumentParser
import Cairn
import Foundation

/// How long single buffered puts take, with compaction and without.
struct Latency: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures how long single buffered puts take, with and without compaction.",
    discussion: """
      Rows are overwritten at random, one buffered put a commit: at full speed, then at a given pace. Runs with \
      and without compaction take turns, each on a new store that is in steady state before it is measured.
      """)

  @Option(help: "Rows in a store.")
  var rows = 1_000_000

  @Option(help: "Puts at full speed in a run.")
  var puts = 5_000_000

  @Option(help: "Puts at the given pace in a run.")
  var pacedPuts = 2_000_000

  @Option(help: "Puts a second that the pace is.")
  var pace = 200_000

  @Option(help: "Size of a segment in MiB.")
  var segmentMib = 64

  @Option(help: "Pairs of runs.")
  var runs = 5

  @Option(help: "Where the stores go while it runs. (default: the temporary directory)")
  var directory: String?

  /// The most bytes that a put takes in the log, including its frame.
  private static let bytesOfPut = 160
  private static let mostBytes = 10 << 30

  func validate() throws {
    guard rows > 0, puts > 0, pacedPuts > 0, pace > 0, runs > 0, (1...1024).contains(segmentMib) else {
      throw ValidationError("rows, puts, pace and runs are above 0, segments have 1 to 1024 MiB")
    }
    guard (rows * 3 + puts + pacedPuts) * Self.bytesOfPut <= Self.mostBytes else {
      throw ValidationError("without compaction the log would grow beyond 10 GiB: fewer rows or puts")
    }
  }

  /// The measurements of one run.
  private struct Run {
    var full = Histogram()
    var paced = Histogram()
    /// Measured from the time when the put was due, so that the wait after a slow put counts.
    var due = Histogram()
    var rate = 0.0
    var compacted = 0
  }

  func run() throws {
    let place = try Workplace(in: directory)
    defer { place.remove() }
    let pool = Rows()
    let progress = Progress()
    var with: [Run] = []
    var without: [Run] = []
    for number in 0..<runs {
      // The two ways take turns at being first.
      for compacts in number % 2 == 0 ? [true, false] : [false, true] {
        progress.show("run \(number + 1) of \(runs), compaction \(compacts ? "on" : "off")")
        let run = try measure(place.store("store"), compacts, pool)
        place.remove("store")
        if compacts { with.append(run) } else { without.append(run) }
      }
    }
    progress.clear()
    print("\(rows) rows, \(runs) runs with and without compaction in turns; µs, median of the runs (least–greatest)\n")
    print(aligned(lines(with, without)))
    print("\nat full speed \(rates(with)) thousand puts a second with compaction, \(rates(without)) without;")
    print("compaction copied \(spread(with.map { Double($0.compacted >> 20) }, 0)) MiB in a run")
  }

  private func measure(_ path: String, _ compacts: Bool, _ pool: Rows) throws -> Run {
    var options = StoreOptions()
    options.compacts = compacts
    options.segmentSize = segmentMib << 20
    let store = try Store.open(at: path, options: options)
    defer { try? store.close() }
    let keyspace = try store.keyspace("rows")
    func put(_ row: Int, _ step: Int) throws {
      try store.write(durability: .buffered) { try pool.put(row, step, in: keyspace, &$0) }
    }
    for row in 0..<rows { try put(row, 0) }
    for step in 0..<2 * rows { try put(any(rows, step, seed: 1), step) }

    var run = Run()
    let compacted = store.statistics.compactedBytes
    let start = now()
    var last = start
    for step in 0..<puts {
      try put(any(rows, step, seed: 2), step)
      let end = now()
      run.full.add(end - last)
      last = end
    }
    run.rate = Double(puts) / Double(last - start) * 1e6
    let begin = now()
    for step in 0..<pacedPuts {
      let due = begin + UInt64(step) * 1_000_000_000 / UInt64(pace)
      var start = now()
      while start < due { start = now() }
      try put(any(rows, step, seed: 3), step)
      let end = now()
      run.paced.add(end - start)
      run.due.add(end - due)
    }
    run.compacted = store.statistics.compactedBytes - compacted
    return run
  }

  private func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  // MARK: The table

  private func lines(_ with: [Run], _ without: [Run]) -> [[String]] {
    var lines = [["puts", "compaction", "p50", "p99", "p99.9", "max", "p99.9 on/off"]]
    let ways: [(String, (Run) -> Histogram)] = [
      ("full speed", { $0.full }), ("\(pace) a second", { $0.paced }), ("the same, from when due", { $0.due }),
    ]
    for (name, histogram) in ways {
      let ratios = zip(with, without).map { histogram($0).quantile(0.999) / histogram($1).quantile(0.999) }
      for (state, runs) in [("on", with), ("off", without)] {
        let histograms = runs.map(histogram)
        lines.append(
          [name, state] + [0.5, 0.99, 0.999].map { part in spread(histograms.map { $0.quantile(part) }, 1) }
            + [spread(histograms.map { Double($0.longest) / 1000 }, 0), state == "on" ? spread(ratios, 2) : ""])
      }
    }
    return lines
  }

  private func rates(_ runs: [Run]) -> String { spread(runs.map(\.rate), 0) }

  private func spread(_ numbers: [Double], _ digits: Int) -> String {
    let range = "\(decimal(numbers.min() ?? .nan, digits))–\(decimal(numbers.max() ?? .nan, digits))"
    return "\(decimal(median(numbers), digits)) (\(range))"
  }
}
