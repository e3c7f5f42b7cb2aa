import ArgumentParser
import CMalloc
import Foundation

/// The options of every comparison, and how it runs.
package struct RaceOptions: ParsableArguments {
  @Option(help: "Rounds; medians are over them.")
  var rounds = 5

  @Option(help: "Where the stores are made, and removed in the end: the disk to be measured.")
  var directory = FileManager.default.temporaryDirectory.path

  @Option(help: "text or json.")
  var format = Format.text

  enum Format: String, ExpressibleByArgument {
    case text
    case json
  }

  package init() {}

  package func validate() throws {
    if rounds < 1 { throw ValidationError("--rounds must be at least 1.") }
  }

  /// Runs the rounds and prints the comparison. The side that begins changes from round to round.
  package func race<Measured: Figure, Rival>(
    _ name: String, _ contender: (Side, URL) -> Rival, _ body: (inout Round<Measured, Rival>) throws -> Void
  ) throws {
    mallopt(M_ARENA_MAX, 1)
    let place = URL(filePath: directory).appending(path: "\(name)-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    var values: [Measured: [[Double]]] = [:]
    for number in 0..<rounds {
      FileHandle.standardError.write(Data("round \(number + 1) of \(rounds)\n".utf8))
      let urls = Side.allCases.map { place.appending(path: "\($0.rawValue) \(number)") }
      defer { for url in urls { try? FileManager.default.removeItem(at: url) } }
      var round = Round<Measured, Rival>(
        zip(Side.allCases, urls).map(contender), order: number.isMultiple(of: 2) ? [0, 1] : [1, 0])
      try body(&round)
      for (figure, both) in round.values { values[figure, default: []].append(both) }
    }
    let comparison = Comparison(values)
    switch format {
    case .text: print(comparison.table)
    case .json: print(try comparison.json)
    }
  }
}
