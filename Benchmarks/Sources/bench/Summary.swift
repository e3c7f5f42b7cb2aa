/// A median with the minimum and the maximum.
struct Spread: Sendable, Codable {
  let median: Double
  let minimum: Double
  let maximum: Double

  /// Nil for no values.
  init?(_ values: [Double]) {
    let sorted = values.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    let middle = sorted.count / 2
    median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    minimum = first
    maximum = last
  }
}

/// The rounds of a benchmark, summarised.
struct Summary {
  let outcome: Tournament.Outcome
  let rows: UInt64

  /// One engine in one workload over all rounds.
  struct Line {
    let engine: EngineKind
    let workload: Workload
    let rows: Int
    let figure: Spread
    let besideWrites: Spread?
    /// Cairn's advantage over this engine; nil for Cairn itself.
    let ratio: Spread?
    /// The first round's reading.
    let reading: Reading?
  }

  var lines: [Line] {
    Workload.allCases.flatMap { workload in
      EngineKind.allCases.compactMap { line($0, workload) }
    }
  }

  private func line(_ engine: EngineKind, _ workload: Workload) -> Line? {
    let own = measurements(of: [engine], in: workload)
    guard let first = own.first, let figure = Spread(own.map(\.figure)) else { return nil }
    return Line(
      engine: engine, workload: workload, rows: workload.isSynced ? first.operations : Int(rows), figure: figure,
      besideWrites: Spread(own.compactMap(\.besideWrites)),
      ratio: engine.name == EngineKind.subject ? nil : ratio(in: workload, to: [engine]), reading: first.reading)
  }

  /// Cairn against the best of `peers` in each round.
  func ratio(in workload: Workload, to peers: [EngineKind]) -> Spread? {
    let subjects = EngineKind.allCases.filter { $0.name == EngineKind.subject }
    return Spread(
      measurements(of: subjects, in: workload).compactMap { own in
        measurements(of: peers, in: workload).filter { $0.round == own.round }.map { own.advantage(over: $0) }.min()
      })
  }

  /// Cairn on several threads against itself on one.
  func scaling(from single: Workload, to several: Workload) -> Spread? {
    let subjects = EngineKind.allCases.filter { $0.name == EngineKind.subject }
    return Spread(
      measurements(of: subjects, in: several).compactMap { own in
        measurements(of: subjects, in: single).first { $0.round == own.round }.map { own.figure / $0.figure }
      })
  }

  /// Cairn's bytes on disk after the fill as a multiple of a peer's.
  func sizeRatio(to peer: EngineKind) -> Spread? {
    let footprints = outcome.footprints
    return Spread(
      footprints.filter { $0.engine.name == EngineKind.subject }.compactMap { own in
        footprints.first { $0.engine == peer && $0.round == own.round }
          .map { Double(own.bytesAfterFill) / Double($0.bytesAfterFill) }
      })
  }

  private func measurements(of engines: [EngineKind], in workload: Workload) -> [Measurement] {
    outcome.measurements.filter { $0.workload == workload && engines.contains($0.engine) }
  }
}
