import ArgumentParser
import CMalloc
import CairnIncrementalStore
import OpenCoreData

/// Measures the costs of the incremental store on Cairn.
@main
struct Stored: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures what Core Data objects take in a store that Cairn keeps, in time, in memory and on disk.",
    discussion: """
      Items of four attributes, a to-one and a to-many relationship are saved in thousands, fetched, counted and fired, in one thread, \
      over a buffered store. Then members of large relationships are read and added.
      """)

  @Option(help: "Items in the store.")
  var objects = 1_000_000

  @Option(help: "Rounds of each measurement.")
  var rounds = 5

  @Option(help: "Measure so many bugs, read page by page, instead.")
  var bugs: Int?

  @Option(parsing: .upToNextOption, help: "Measure large saves, relationships and far effects of these sizes instead.")
  var sizes: [Int] = []

  @Option(help: "Where the store is made, and removed in the end.")
  var directory = FileManager.default.temporaryDirectory.path

  func run() throws {
    mallopt(M_ARENA_MAX, 1)
    let url = URL(filePath: directory).appending(path: "stored \(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: url) }
    var table = FigureTable()
    if let bugs {
      try Bugs(count: bugs, at: url).measure(into: &table)
      return print(table.text)
    }
    if !sizes.isEmpty {
      try LargeSets(sizes: sizes, at: url).measure(into: &table)
      try FarEffects(sizes: sizes, rounds: rounds, url: url).measure(into: &table)
      return print(table.text)
    }
    try Items(count: objects, rounds: rounds, at: url).measure(into: &table)
    try Members(rounds: rounds, at: url.appendingPathExtension("members")).measure(into: &table)
    print(table.text)
  }
}

extension Duration {
  var nanoseconds: Double { self / .nanoseconds(1) }
}

/// Runs `body`, and returns its result and the nanoseconds per operation.
func time<Result>(_ operations: Int, _ body: () throws -> Result) rethrows -> (result: Result, each: Double) {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try body()
  return (result, (clock.now - start).nanoseconds / Double(operations))
}
