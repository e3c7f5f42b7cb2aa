import ArgumentParser
import Cairn
import Foundation

/// What repeated backups copy, and how long puts take beside one.
struct Backups: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures what repeated backups copy, and how long puts take beside backups.",
    discussion: """
      Each day some rows are overwritten; then the store is backed up into two directories, by links and by copying. \
      Afterwards single buffered puts are made at a given pace, in turns without backups and beside backups that follow \
      each other without a break, each into an empty directory, by copying.
      """)

  @Option(help: "Rows in the store.")
  var rows = 1_000_000

  @Option(help: "Rows overwritten each day.")
  var overwrites = 500_000

  @Option(help: "Days.")
  var days = 7

  @Option(help: "Puts in a run.")
  var puts = 1_000_000

  @Option(help: "Puts a second that the pace is.")
  var pace = 100_000

  @Option(help: "Pairs of runs.")
  var runs = 5

  @Option(help: "Size of a segment in MiB.")
  var segmentMib = 64

  @Option(help: "Where the stores go while it runs. (default: the temporary directory)")
  var directory: String?

  func validate() throws {
    guard rows > 9, overwrites > 0, days > 0, puts > 0, pace > 0, runs > 0, (1...1024).contains(segmentMib) else {
      throw ValidationError("there are at least 10 rows; all other numbers are above 0, segments have 1 to 1024 MiB")
    }
  }

  func run() throws {
    let place = try Workplace(in: directory)
    defer { place.remove() }
    for (name, span) in [("all rows", rows), ("a tenth of the rows", rows / 10)] {
      print("\(overwrites) puts a day, at random to \(name); MiB\n")
      print(aligned(try measureDays(place, span)))
      print("")
      place.remove("store")
    }
    try measurePuts(place)
  }

  // MARK: Days

  private func measureDays(_ place: Workplace, _ span: Int) throws -> [[String]] {
    let store = try open(place)
    defer { try? store.close() }
    let keyspace = try store.keyspace("rows")
    let pool = Rows()
    var lines = [
      ["day", "written", "log", "copied", "by links: linked", "copied", "removed", "seconds to copy", "to link"]
    ]
    for day in 1...days {
      let before = store.statistics.appendedBytes
      for step in 0..<overwrites {
        try store.write(durability: .buffered) {
          try pool.put(any(span, day * overwrites + step, seed: 4), step, in: keyspace, &$0)
        }
      }
      let written = store.statistics.appendedBytes - before
      let start = now()
      let copying = try store.backup(to: place.store("copies"), linksFiles: false)
      let middle = now()
      let linking = try store.backup(to: place.store("links"))
      let end = now()
      lines.append(
        ["\(day)"] + [written, store.statistics.logBytes, copying.copied.bytes].map(mib)
          + [linking.linked.bytes, linking.copied.bytes, linking.removed.bytes].map(mib)
          + [decimal(Double(middle - start) / 1e9), decimal(Double(end - middle) / 1e9)])
    }
    place.remove("copies")
    place.remove("links")
    return lines
  }

  private func open(_ place: Workplace) throws -> Store {
    var options = StoreOptions()
    options.segmentSize = segmentMib << 20
    let store = try Store.open(at: place.store("store"), options: options)
    let keyspace = try store.keyspace("rows")
    let pool = Rows()
    for step in 0..<3 * rows {
      let row = step < rows ? step : any(rows, step, seed: 1)
      try store.write(durability: .buffered) { try pool.put(row, step, in: keyspace, &$0) }
    }
    return store
  }

  private func mib(_ bytes: Int) -> String { decimal(Double(bytes) / Double(1 << 20), 1) }

  // MARK: Puts

  private func measurePuts(_ place: Workplace) throws {
    let store = try open(place)
    defer { try? store.close() }
    var (with, without): ([Histogram], [Histogram]) = ([], [])
    var backups = 0
    for number in 0..<runs {
      // The two ways take turns at being first.
      for isBeside in number % 2 == 0 ? [true, false] : [false, true] {
        guard isBeside else {
          without.append(try measurePuts(store))
          continue
        }
        let backing = BackupThread(store, place)
        with.append(try measurePuts(store))
        backups += try backing.stop()
      }
    }
    print("buffered puts at \(pace) a second, beside \(backups) backups in \(runs) runs, and without; µs,")
    print("median of the runs (least–greatest)\n")
    var lines = [["puts", "p50", "p99", "p99.9", "max"]]
    for (name, histograms) in [("beside backups", with), ("without", without)] {
      lines.append(
        [name] + [0.5, 0.99, 0.999].map { part in spread(histograms.map { $0.quantile(part) }, 1) }
          + [spread(histograms.map { Double($0.longest) / 1000 }, 0)])
    }
    print(aligned(lines))
  }

  private func measurePuts(_ store: Store) throws -> Histogram {
    let keyspace = try store.keyspace("rows")
    let pool = Rows()
    var times = Histogram()
    let begin = now()
    for step in 0..<puts {
      let due = begin + UInt64(step) * 1_000_000_000 / UInt64(pace)
      var start = now()
      while start < due { start = now() }
      try store.write(durability: .buffered) { try pool.put(any(rows, step, seed: 3), step, in: keyspace, &$0) }
      times.add(now() - start)
    }
    return times
  }

  private func spread(_ numbers: [Double], _ digits: Int) -> String {
    let range = "\(decimal(numbers.min() ?? .nan, digits))–\(decimal(numbers.max() ?? .nan, digits))"
    return "\(decimal(median(numbers), digits)) (\(range))"
  }
}

/// Makes backups one after the other until it is stopped.
private final class BackupThread: @unchecked Sendable {
  private let condition = NSCondition()
  private var isStopped = false
  private var result: Result<Int, any Error>?

  init(_ store: Store, _ place: Workplace) {
    Thread.detachNewThread { [self] in
      let result = Result { try run(store, place) }
      condition.withLock {
        self.result = result
        condition.signal()
      }
    }
  }

  private func run(_ store: Store, _ place: Workplace) throws -> Int {
    var count = 0
    while !condition.withLock({ isStopped }) {
      try store.backup(to: place.store("copies"), linksFiles: false)
      place.remove("copies")
      count += 1
    }
    return count
  }

  /// Returns how many backups have been made.
  func stop() throws -> Int {
    condition.withLock { isStopped = true }
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let result { return try result.get() }
      condition.wait()
    }
  }
}

/// Nanoseconds of a clock that never goes back.
private func now() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
