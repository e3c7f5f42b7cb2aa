import ArgumentParser
import OpenCoreData

/// Measures the costs of objects and contexts over a store that has its rows in memory.
@main
struct Objects: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures what managed objects and contexts take, in time and in memory.",
    discussion: """
      Objects of four attributes, a to-one and a to-many relationship are made, saved, fetched, fired, changed, \
      merged and deleted, in one thread, over a store in memory.
      """)

  @Option(help: "Objects in a store.")
  var objects = 100_000

  @Option(help: "Rounds that are measured, after one that is not.")
  var rounds = 7

  func validate() throws {
    guard objects >= 100, rounds > 0 else { throw ValidationError("There are at least 100 objects and one round.") }
  }

  func run() throws {
    Heap.prepare()
    // A first round that is not counted, so that the others all find memory that was allocated before.
    try Round(count: objects, into: Figures()).run()
    let figures = Figures()
    for _ in 0..<rounds { try Round(count: objects, into: figures).run() }
    print("\(objects) objects in memory, median of \(rounds) rounds\n")
    print(figures.table)
  }
}
