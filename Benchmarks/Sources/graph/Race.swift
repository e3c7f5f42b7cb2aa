import Foundation

/// Both sides store the same graph and do the same tasks in turns: each does a task before the other does the next one.
/// The side that begins changes from round to round.
struct Race {
  static let sample = 10_000

  let graph: PackageGraph
  let place: URL
  /// For each figure and round, the values of both sides, Core Data's first.
  private(set) var values: [Figure: [[Double]]] = [:]

  init(_ graph: PackageGraph, at place: URL) {
    self.graph = graph
    self.place = place
  }

  /// Runs the rounds and adds values in milliseconds or MiB.
  mutating func run(rounds: Int) throws {
    for round in 0..<rounds {
      FileHandle.standardError.write(Data("round \(round + 1) of \(rounds)\n".utf8))
      try run(round)
    }
  }

  private mutating func run(_ round: Int) throws {
    let urls = Side.allCases.map { place.appending(path: "\($0.rawValue) \(round)") }
    defer { for url in urls { try? FileManager.default.removeItem(at: url) } }
    let contenders = zip(Side.allCases, urls).map { $0.contender(at: $1) }
    let order = round.isMultiple(of: 2) ? [0, 1] : [1, 0]

    func each<Result>(_ body: (any Contender) throws -> Result) rethrows -> [Result] {
      let results = try order.map { try body(contenders[$0]) }
      return order.map { results[$0] }
    }
    func time(_ figure: Figure, _ task: (any Contender) throws -> Int) throws {
      let results = try each { side in
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try task(side)
        return (answer, (clock.now - start) / .milliseconds(1))
      }
      guard results[0].0 == results[1].0 else { throw Disagreement(figure: figure, answers: results.map(\.0)) }
      values[figure, default: []].append(results.map(\.1))
    }
    func note(_ figure: Figure, _ bytes: [Int]) {
      values[figure, default: []].append(bytes.map { Double($0) / Double(1 << 20) })
    }
    func noteDisk(_ figure: Figure) throws {
      note(
        figure,
        try each { side in
          try side.close()
          return side.diskBytes
        })
    }
    /// Checks that both sides hold the same graph and, if `expected` is given, that graph.
    func compareContent(with expected: GraphContent?) throws {
      let found = try each { side in try side.content() }
      guard found[0] == found[1], found[0] == expected ?? found[0] else { throw Difference(contents: found) }
    }

    for side in contenders { try side.open() }
    try time(.imported) { side in
      try side.insert(graph)
      return 0
    }
    try noteDisk(.disk)
    let memory = try zip(Side.allCases, urls).map(MemoryUse.measure)
    note(.memoryOpened, memory.map(\.opened))
    note(.memoryHeld, memory.map(\.held))
    try time(.opened) { side in
      try side.open()
      return 0
    }
    for side in contenders { side.resolveIdentifiers() }
    try compareContent(with: graph.content)

    var random = SplitMix()
    let versions = Array(graph.versions.indices.shuffled(using: &random).prefix(Self.sample))
    try time(.found) { try $0.find(versions) }
    try time(.fetched) { try $0.fetch(versions) }
    try time(.realised) { try $0.realise(versions) }
    try time(.realisedTogether) { try $0.realiseTogether(versions) }
    for (figure, hubs) in zip([Figure.identifiers10, .identifiers1000, .identifiersMost], graph.hubs) {
      try time(figure) { try $0.dependentIDs(Array(hubs.packages)) }
    }
    for (figure, hubs) in zip([Figure.dependents10, .dependents1000, .dependentsMost], graph.hubs) {
      try time(figure) { try $0.dependents(Array(hubs.packages)) }
    }
    try time(.scanned) { try $0.scan(installedSizeAbove: PackageGraph.largeInstalledSize) }
    try time(.counted) { try $0.count(installedSizeAbove: PackageGraph.largeInstalledSize) }

    for side in contenders { try side.compact() }
    try noteDisk(.diskCompacted)
    for side in contenders {
      try side.open()
      side.resolveIdentifiers()
    }
    try time(.changed) { try $0.change(versions) }
    let packages = Array(graph.packages.indices.shuffled(using: &random).prefix(Self.sample))
    try time(.deleted) { try $0.delete(packages: packages) }
    try compareContent(with: nil)
    for side in contenders { try side.close() }
  }
}

/// The two sides answered differently.
struct Disagreement: Error, CustomStringConvertible {
  let figure: Figure
  let answers: [Int]

  var description: String { "\(figure.rawValue): the answers are \(answers)" }
}

/// The two sides hold different graphs, or not the one that was imported.
struct Difference: Error, CustomStringConvertible {
  let contents: [GraphContent]

  var description: String { "the graphs differ: \(contents)" }
}
