import ArgumentParser
import Cairn
import Foundation

/// How long the log is in relation to its needed bytes, under one workload after the other.
struct Space: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures the length of the log and write amplification under several workloads.",
    discussion: """
      The log is to stay within 1.3 times the bytes that are needed of it and four segments. Figures of ratio and \
      amplification are over the second half of each workload's writes; whether the bound was kept is over all of them.
      """)

  @Argument(help: "Which of them. (default: all)")
  var workloads: [SpaceWorkloads.Workload] = []

  @Option(help: "Rows in a store.")
  var rows = 1_000_000

  @Option(help: "How many times the rows are overwritten.")
  var times = 10

  @Option(help: "Changes in a commit.")
  var batch = 100

  @Option(help: "Size of a segment in MiB.")
  var segmentMib = 64

  @Option(help: "Where the stores go while it runs. (default: the temporary directory)")
  var directory: String?

  @Option(help: "Where to write the series: writes done and bytes, one line for each hundredth of the rows written.")
  var csv: String?

  @Option(help: "Where to draw the mixed workload, as SVG.")
  var chart: String?

  func validate() throws {
    guard rows >= 1000, times > 0, batch > 0, (1...1024).contains(segmentMib) else {
      throw ValidationError("at least 1,000 rows, times and batch above 0, segments of 1 to 1024 MiB")
    }
  }

  func run() throws {
    let place = try Workplace(in: directory)
    defer { place.remove() }
    var options = StoreOptions()
    options.segmentSize = segmentMib << 20
    let runner = SpaceWorkloads(
      rows: rows, writes: rows * times, batch: batch, options: options, place: place, progress: Progress())
    var lines = [SpaceWorkloads.titles]
    var series = "workload,writes,log,live,needed,compacted\n"
    for workload in SpaceWorkloads.Workload.allCases where workloads.isEmpty || workloads.contains(workload) {
      let (trial, line) = try runner.run(workload)
      lines.append(line)
      for sample in trial.samples {
        series += "\(trial.name),\(sample.writes),\(sample.log),\(sample.live),\(sample.needed),\(sample.compacted)\n"
      }
      if workload == .mixed, let chart {
        let drawing = Chart(samples: trial.samples, segmentSize: options.segmentSize)
        try drawing.svg.write(toFile: chart, atomically: true, encoding: .utf8)
      }
    }
    if let csv { try series.write(toFile: csv, atomically: true, encoding: .utf8) }
    print("\(rows) rows, \(batch) changes a commit, segments of \(segmentMib) MiB\n")
    print(aligned(lines))
  }
}

/// The workloads, each on a store of its own.
struct SpaceWorkloads {
  enum Workload: String, CaseIterable, ExpressibleByArgument {
    case fill, uniform, hot, queue, snapshot, reopening, delete, drop, mixed

    var title: String {
      switch self {
      case .fill: "fill"
      case .uniform: "uniform overwrite"
      case .hot: "hot and cold"
      case .queue: "queue beside rows that stay"
      case .snapshot: "hot and cold, snapshot held"
      case .reopening: "uniform, reopened 4 times"
      case .delete: "delete 90 %, compact"
      case .drop: "drop of a half, compact"
      case .mixed: "mixed"
      }
    }
  }

  let rows: Int
  let writes: Int
  let batch: Int
  let options: StoreOptions
  let place: Workplace
  let progress: Progress
  private let pool = Rows()
  /// Odd, and without a common factor with the number of rows.
  private let factor: Int

  init(rows: Int, writes: Int, batch: Int, options: StoreOptions, place: Workplace, progress: Progress) {
    (self.rows, self.writes, self.batch) = (rows, writes, batch)
    (self.options, self.place, self.progress) = (options, place, progress)
    factor = stride(from: 0x9E37_79B1, to: .max, by: 2).first { Self.divisor($0, rows) == 1 } ?? 1
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }

  func run(_ workload: Workload) throws -> (Trial, [String]) {
    let trial = try Trial(
      workload.title, at: place.store("store"), rows: rows, batch: batch, pool: pool, options: options,
      progress: progress)
    defer {
      try? trial.close()
      place.remove("store")
      progress.clear()
    }
    try trial.run(rows / (workload == .drop ? 2 : 1)) { .put($0) }
    if workload != .fill, workload != .mixed { trial.forget() }
    switch workload {
    case .fill: break
    case .uniform: try trial.run(writes) { .put(any(rows, $0, seed: 1)) }
    case .hot: try trial.run(writes) { .put(hot($0)) }
    case .queue: try trial.run(writes) { queue($0) }
    case .snapshot:
      let snapshot = trial.store.snapshot()
      defer { snapshot.close() }
      try trial.run(writes) { .put(hot($0)) }
    case .reopening:
      for part in 0..<5 {
        if part > 0 { try trial.reopen() }
        try trial.run(writes / 5) { .put(any(rows, $0, seed: UInt64(10 + part))) }
      }
    case .delete:
      try trial.run(rows * 9 / 10) { .delete(shuffled($0)) }
      try trial.store.compact()
      trial.sample()
    case .drop:
      try trial.run(rows / 2, in: "others") { .put($0) }
      try trial.keyspace("others").drop()
      try trial.store.compact()
      trial.sample()
    case .mixed: try mixed(trial)
    }
    return (trial, line(trial, isSettled: workload == .delete || workload == .drop))
  }

  /// Nine of ten steps choose among a tenth of the rows, which are spread over the whole range of keys.
  private func hot(_ step: Int) -> Int {
    any(any(10, step, seed: 2) == 0 ? rows : max(1, rows / 10), step, seed: 3)
  }

  /// Puts new rows, and deletes each after a thousand more have been put.
  private func queue(_ step: Int) -> Trial.Change {
    let row = rows + step / 2
    return step.isMultiple(of: 2) || step < 2000 ? .put(row) : .delete(row - 1000)
  }

  /// Each row once, in pseudorandom order.
  private func shuffled(_ step: Int) -> Int { step * factor % rows }

  /// Hot and cold, with one change in five a delete. A snapshot is held from three tenths of the writes to half; then
  /// seven tenths of the rows are deleted; after seven tenths of the writes the store is reopened and every row put
  /// once; two more tenths follow.
  private func mixed(_ trial: Trial) throws {
    func some(_ tenths: Int) throws {
      try trial.run(writes * tenths / 10) { any(5, $0, seed: 4) == 0 ? .delete(hot($0)) : .put(hot($0)) }
    }
    try some(3)
    let snapshot = trial.store.snapshot()
    try some(2)
    snapshot.close()
    try trial.run(rows * 7 / 10) { .delete(shuffled($0)) }
    try some(2)
    try trial.reopen()
    try trial.run(rows) { .put($0) }
    try some(2)
  }

  // MARK: The table

  static let titles = [
    "workload", "rows/s", "log MiB max", "end", "live MiB", "log/needed worst", "less 4 segments worst", "mean",
    "bound kept", "amplification", "tombstones",
  ]

  private func line(_ trial: Trial, isSettled: Bool) -> [String] {
    let (end, spared) = (trial.end, trial.spared)
    let tombstones = Double(trial.store.statistics.tombstoneBytes) / Double(end.log)
    return [
      trial.name, decimal(trial.rowsPerSecond, 0), mebibytes(trial.logMax), mebibytes(end.log), mebibytes(end.live),
      decimal(isSettled ? Double(end.log) / Double(end.needed) : trial.worst), decimal(spared.worst),
      decimal(spared.mean), trial.isBounded ? "yes" : "NO", decimal(trial.amplification),
      decimal(tombstones * 100) + " %",
    ]
  }

  private func mebibytes(_ bytes: Int) -> String { decimal(Double(bytes) / Double(1 << 20), 1) }
}
