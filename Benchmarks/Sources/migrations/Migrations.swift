import ArgumentParser
import Foundation

/// Measures how long a large store takes to open with another model.
@main
struct Migrations: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures migrations of a large store on Cairn, until the first object is fetched.",
    discussion: """
      Objects have four attributes and no relationships. What needs no row is measured in each round, beside opening \
      with the same model; what rewrites or copies all rows is measured once, with the private memory before it and at most.
      """)

  @Option(help: "Objects in the store.")
  var objects = 1_000_000

  @Option(help: "Rounds.")
  var rounds = 5

  @Flag(help: "Leave out what rewrites or copies all rows.")
  var onlyOpening = false

  @Option(help: "Where the store is made, and removed in the end.")
  var directory = FileManager.default.temporaryDirectory.path

  func validate() throws {
    guard objects >= 100, rounds > 0 else { throw ValidationError("There are at least 100 objects and one round.") }
  }

  func run() throws {
    let url = URL(filePath: directory).appending(path: "migrations \(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: url) }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    var warehouse = Warehouse(at: url)
    try warehouse.fill(objects)
    var figures: [(same: Double, attribute: Double, entity: Double, required: Double)] = []
    for _ in 0..<rounds {
      figures.append(
        (
          try warehouse.open(), try warehouse.addAttribute(), try warehouse.renameEntity(),
          try warehouse.addRequiredAttribute()
        ))
    }
    print("\(objects) objects, median of \(rounds) rounds, milliseconds until the first object is fetched\n")
    print(Self.line(["", "time", "ratio", "least", "most"]))
    print(Self.line(["the same model", Self.text(Self.median(figures.map(\.same)))]))
    for (name, time) in [
      ("a new optional attribute", figures.map(\.attribute)), ("a renamed entity", figures.map(\.entity)),
      ("a new attribute with a default", figures.map(\.required)),
    ] {
      let ratios = zip(time, figures).map { $0 / $1.same }.sorted()
      print(
        Self.line(
          [name, Self.text(Self.median(time))] + [Self.median(ratios), ratios[0], ratios[rounds - 1]].map(Self.text)))
    }
    guard !onlyOpening else { return }
    print("\nmeasured once, milliseconds, with MiB of private memory before it and at most\n")
    print(Self.line(["", "time", "before", "most"]))
    for (name, migrate) in [
      ("moved to another place", { try warehouse.move() }), ("an integer becomes a text", { try warehouse.convert() }),
      ("by a mapping model", { try warehouse.map() }),
    ] as [(String, () throws -> Double)] {
      let memory = MemoryWatch()
      let time = try migrate()
      print(Self.line([name, Self.text(time), "\(memory.first)", "\(memory.highest())"]))
    }
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func text(_ number: Double) -> String { String(format: "%.2f", number) }

  private static func line(_ cells: [String]) -> String {
    cells.enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, (column == 0 ? 32 : 11) - cell.count))
      return column == 0 ? cell + space : space + cell
    }.joined()
  }
}
