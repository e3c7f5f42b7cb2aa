import ArgumentParser
import Foundation

/// Compares Cairn with other embedded key-value engines.
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares Cairn with LMDB, LevelDB, RocksDB and SQLite, one round of all engines after the other.",
    discussion: """
      Engines: \(EngineKind.allValueStrings.joined(separator: ", ")).
      Workloads: \(Workload.allValueStrings.joined(separator: ", ")).
      Only ratios of engines within one run mean anything; give the machine to it alone.
      """)

  @Option(help: "Rows in each store; the figures to quote are for 1000000 and 10000000.")
  var rows: UInt64 = 1_000_000

  @Option(help: "Rounds; medians are over them.")
  var rounds = 3

  @Option(help: "Engines, with commas between them.")
  var engines = List(EngineKind.allCases)

  @Option(help: "Workloads, with commas between them; they run in the order listed above.")
  var workloads = List(Workload.allCases)

  @Option(help: "Where the stores go while it runs: the disk to be measured. (default: the temporary directory)")
  var directory: String?

  @Option(help: "Lookups and overwrites in each run. (default: the number of rows, at most 2000000)")
  var operations: Int?

  @Option(help: "text or json.")
  var format = Format.text

  enum Format: String, ExpressibleByArgument {
    case text
    case json
  }

  func validate() throws {
    if rows == 0 || rows > 1 << 32 { throw ValidationError("--rows must be between 1 and 2^32.") }
    if rounds < 1 { throw ValidationError("--rounds must be at least 1.") }
    if let operations, operations < 1 { throw ValidationError("--operations must be at least 1.") }
  }

  func run() throws {
    let parent = directory ?? FileManager.default.temporaryDirectory.path
    let place = "\(parent)/bench-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: place) }

    let tournament = Tournament(
      engines: engines.elements,
      workloads: Workload.allCases.filter(workloads.elements.contains),
      rounds: rounds, directory: place,
      runs: Runs(rows: rows, operations: operations ?? min(Int(rows), 2_000_000), pool: ValuePool()),
      progress: Progress())
    let outcome = try tournament.run()
    let verification = Verification(outcome.measurements, rows: rows)
    let summary = Summary(outcome: outcome, rows: rows)
    switch format {
    case .text: print(TextReport(summary: summary).text)
    case .json: print(try JSONReport(summary, verification).text())
    }
    if !verification.complaints.isEmpty {
      let message = (["THE ENGINES DID NOT DO THE SAME WORK; THE FIGURES ARE VOID."] + verification.complaints)
      FileHandle.standardError.write(Data((message.joined(separator: "\n") + "\n").utf8))
      throw ExitCode.failure
    }
  }
}

/// Several values in one argument, separated by commas.
struct List<Element: ExpressibleByArgument & Equatable>: ExpressibleByArgument {
  let elements: [Element]

  init(_ elements: [Element]) {
    self.elements = elements
  }

  init?(argument: String) {
    elements = argument.split(separator: ",").compactMap { Element(argument: String($0)) }
    if elements.isEmpty || elements.count != argument.split(separator: ",").count { return nil }
  }

  var defaultValueDescription: String { "all" }
}
