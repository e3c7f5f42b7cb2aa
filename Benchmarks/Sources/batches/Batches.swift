import ArgumentParser
import Foundation

/// Measures batch requests beside batches of the engine with the same bytes.
@main
struct Batches: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures batch requests on Cairn beside batches of the engine that write the same rows.",
    discussion: """
      In each round, objects of four attributes without relationships are inserted, updated and deleted by one batch \
      request each, and in the same round the engine writes, overwrites and deletes the same rows in one batch each. \
      Both are buffered, in one thread. Then as many folders and items of folders, which a cascade deletes, are \
      deleted by one batch request, and others by a context.
      """)

  @Option(help: "Objects in a batch.")
  var objects = 200_000

  @Option(help: "Rounds that are measured, after one that is not.")
  var rounds = 5

  @Option(help: "Where the stores are made, and removed in the end.")
  var directory = FileManager.default.temporaryDirectory.path

  func validate() throws {
    guard objects >= 100, rounds > 0 else { throw ValidationError("There are at least 100 objects and one round.") }
  }

  func run() throws {
    var figures: [Task: [(requests: Double, engine: Double)]] = [:]
    var handlers: [(dictionary: Double, object: Double)] = []
    var deletions: [(request: Double, context: Double)] = []
    for number in 0...rounds {
      let url = URL(filePath: directory).appending(path: "batches \(ProcessInfo.processInfo.processIdentifier)")
      defer { try? FileManager.default.removeItem(at: url) }
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      let round = Round(count: objects, at: url)
      for (task, pair) in try round.run() where number > 0 { figures[task, default: []].append(pair) }
      let alone = try round.handlersAlone()
      if number > 0 { handlers.append(alone) }
      let deletion = try RelatedDeletion(count: objects, at: url).run()
      if number > 0 { deletions.append(deletion) }
    }
    print("\(objects) objects, median of \(rounds) rounds, nanoseconds an object\n")
    print(Self.line(["", "request", "engine", "ratio", "least", "most", "mark"]))
    for task in Task.allCases {
      let pairs = figures[task] ?? []
      let ratios = pairs.map { $0.requests / $0.engine }.sorted()
      let median = ratios[ratios.count / 2]
      print(
        Self.line(
          [task.rawValue, Self.median(pairs.map(\.requests)), Self.median(pairs.map(\.engine))]
            + [median, ratios[0], ratios[ratios.count - 1]].map(Self.text) + [median <= 3 ? "3 reached" : "3 missed"]))
    }
    print(
      "\nThe handlers alone, which set the values of one dictionary or object again and again: "
        + "\(Self.median(handlers.map(\.dictionary))) and \(Self.median(handlers.map(\.object)))")
    let ratios = deletions.map { $0.request / $0.context }.sorted()
    print("\n" + Self.line(["", "request", "context", "ratio", "least", "most"]))
    print(
      Self.line(
        ["folders deleted with items", Self.median(deletions.map(\.request)), Self.median(deletions.map(\.context))]
          + [ratios[ratios.count / 2], ratios[0], ratios[ratios.count - 1]].map(Self.text)))
  }

  private static func median(_ values: [Double]) -> String { "\(Int(values.sorted()[values.count / 2]))" }

  private static func text(_ ratio: Double) -> String { String(format: "%.2f", ratio) }

  private static func line(_ cells: [String]) -> String {
    cells.enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, (column == 0 ? 30 : 10) - cell.count))
      return column == 0 ? cell + space : space + cell
    }.joined()
  }
}

/// What is measured.
enum Task: String, CaseIterable {
  case insertDictionaries = "inserted from dictionaries"
  case insertHandler = "inserted by a handler"
  case insertObjects = "inserted by an object handler"
  case insertParts = "inserted, 10,000 in a save"
  case update = "updated"
  case delete = "deleted"
}
