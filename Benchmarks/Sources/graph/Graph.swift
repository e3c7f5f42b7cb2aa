import ArgumentParser
import CMalloc
import Comparing
import Foundation

/// Compares Core Data on Cairn with GRDB on SQLite.
@main
struct Graph: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compares Core Data on Cairn with GRDB on SQLite, each of which keeps the same graph.",
    discussion: """
      The graph is made up from a fixed seed, in the shape of Debian's catalogue: packages, their versions, maintainers, sections, and \
      four to five dependencies a version; one package has a third as many dependents as there are packages. On both sides a save is on \
      the disk when it returns. Only ratios within one run mean anything; give the machine to it alone.
      """,
    subcommands: [Compare.self, Memory.self], defaultSubcommand: Compare.self)

  struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs both, and prints what they take.")

    @Option(help: "Packages in the graph.")
    var objects = 65_400

    @OptionGroup var options: RaceOptions

    func validate() throws {
      if objects < 20_000 { throw ValidationError("--objects must be at least 20000.") }
    }

    func run() throws {
      let graph = PackageGraph(packages: objects)
      try options.race("graph", { $0.contender(at: $1) }) { round in try round.run(graph) }
    }
  }

  /// The part of the comparison that runs in a process of its own.
  struct Memory: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints what memory one side takes for a store.", shouldDisplay: false)

    @Argument var side: Side
    @Argument var path: String

    func run() throws {
      mallopt(M_ARENA_MAX, 1)
      let use = try MemoryUse(of: side.contender(at: URL(filePath: path)))
      print(String(decoding: try JSONEncoder().encode(use), as: UTF8.self))
    }
  }
}
