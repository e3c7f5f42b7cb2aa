import ArgumentParser
import Comparing

/// Compares Core Data on Cairn with GRDB on SQLite, by what an issue tracker does.
@main
struct Issues: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compares Core Data on Cairn with GRDB on SQLite, each of which keeps the same issues.",
    discussion: """
      Issues with eight attributes, projects, labels and comments are made up from a fixed seed. Both sides have the \
      indexes that an application would declare. On both sides a save is on the disk when it returns. Only ratios \
      within one run mean anything; give the machine to it alone.
      """)

  @Option(help: "Issues; a project for each hundred of them, and about five comments for each two.")
  var issues = 200_000

  @OptionGroup var options: RaceOptions

  func validate() throws {
    if issues < 20_000 { throw ValidationError("--issues must be at least 20000.") }
  }

  func run() throws {
    let tracker = Tracker(issues: issues)
    let samples = Samples(of: tracker)
    try options.race("issues", { $0.contender(at: $1) }) { round in try round.run(tracker, samples) }
  }
}
