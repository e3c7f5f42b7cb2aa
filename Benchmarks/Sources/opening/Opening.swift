import ArgumentParser
import Cairn
import Foundation

/// Measures how long a large store takes to answer: opening, one lookup and ten rows in order, with a warm page cache.
@main
struct Opening: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opening",
    abstract: "Measures opening after a close, after kill -9 under full load, and without any checkpoint.",
    discussion: "Rows have keys of 16 bytes and values of 100, half compressible.")

  @Option(help: "Rows in the store.")
  var rows = 10_000_000

  @Option(help: "How often each way of opening is measured.")
  var rounds = 5

  @Option(help: "How many times a process is killed.")
  var kills = 5

  @Flag(help: "Rows found one by one only.")
  var unordered = false

  @Option(help: "Where the store goes while it runs. (default: the temporary directory)")
  var directory: String?

  /// Makes this the process that is to be killed: it overwrites random rows until then.
  @Flag(help: .hidden)
  var overwrites = false

  func run() throws {
    let order: Keyspace.Order = unordered ? .unordered : .ordered
    if overwrites { return try Load(at: directory ?? ".", order, rows).overwrite() }

    let place = (directory ?? NSTemporaryDirectory()) + "/opening-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let load = try Load(at: place + "/store", order, rows)
    let (fill, close) = try load.fill()
    let filled = try Store.open(at: place + "/store").statistics
    print("\(rows) rows, \(order), filled in \(milliseconds(fill)) ms, closed in \(milliseconds(close)) ms")
    print("log \(filled.logBytes >> 20) MiB, checkpoints on disk \(filled.checkpointBytes >> 20) MiB")

    report("after a close", try (0..<rounds).map { _ in try open(place + "/store") })
    try removeCheckpoints(place + "/store")
    report("without a checkpoint", try (0..<rounds).map { _ in try open(place + "/store", keeping: true) })
    let store = try Store.open(at: place + "/store")
    let elapsed = try ContinuousClock().measure { try store.checkpoint() }
    print("a checkpoint of \(store.statistics.checkpointBytes >> 20) MiB takes \(milliseconds(elapsed)) ms")
    try store.close()
    report("after kill -9", try (0..<kills).map { try killed(place + "/store", $0) })
  }

  private struct Sample {
    let elapsed: Duration
    let replayed: Int
  }

  /// Measures one opening; the time to close the store is not counted.
  private func open(_ path: String, keeping: Bool = false) throws -> Sample {
    let start = ContinuousClock.now
    var options = StoreOptions()
    options.writesCheckpoints = !keeping
    let store = try Store.open(at: path, options: options)
    let keyspace = try store.keyspace("rows", order: unordered ? .unordered : .ordered)
    guard try keyspace.get(Key.bytes(Load.key(1))) != nil else { throw ValidationError("a row is missing") }
    if !unordered {
      guard try keyspace.rows(limit: 10).count == 10 else { throw ValidationError("rows are missing") }
    }
    let elapsed = start.duration(to: .now)
    defer { try? store.close() }
    return Sample(elapsed: elapsed, replayed: store.recovery.records)
  }

  /// Lets a process write at full speed for some seconds, a different time in successive rounds, then kills it.
  private func killed(_ path: String, _ round: Int) throws -> Sample {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["--overwrites", "--directory", path, "--rows", "\(rows)"] + (unordered ? ["--unordered"] : [])
    try process.run()
    Thread.sleep(forTimeInterval: 4 + Double(round * 7 % 5) * 1.7)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return try open(path)
  }

  private func removeCheckpoints(_ path: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".checkpoint") {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
  }

  private func report(_ title: String, _ samples: [Sample]) {
    let sorted = samples.map(\.elapsed).sorted()
    let records = samples.map(\.replayed).sorted()
    let name = title.padding(toLength: 22, withPad: " ", startingAt: 0)
    print(
      "\(name) \(milliseconds(sorted[sorted.count / 2])) ms (\(milliseconds(sorted[0]))–\(milliseconds(sorted[sorted.count - 1]))),",
      "\(records[records.count / 2]) records replayed (\(records[0])–\(records[records.count - 1]))")
  }

  private func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
}
