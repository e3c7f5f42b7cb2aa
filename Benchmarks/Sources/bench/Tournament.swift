import Foundation

/// Runs the rounds. In each round, every engine runs a workload before any engine runs the next one; the order of the
/// engines rotates by one from round to round.
struct Tournament {
  let engines: [EngineKind]
  let workloads: [Workload]
  let rounds: Int
  let directory: String
  let runs: Runs
  let progress: Progress

  /// The measurements, in the order in which they were made.
  struct Outcome: Sendable {
    var measurements: [Measurement] = []
    var footprints: [Footprint] = []
  }

  func run() throws -> Outcome {
    defer { progress.clear() }
    var outcome = Outcome()
    for round in 0..<rounds {
      let shift = round % engines.count
      try run(round: round, order: Array(engines[shift...] + engines[..<shift]), into: &outcome)
    }
    return outcome
  }

  private func run(round: Int, order: [EngineKind], into outcome: inout Outcome) throws {
    let contenders = order.map { Contender($0, in: directory, .buffered) }
    defer { for contender in contenders { try? contender.remove() } }
    var footprints: [Footprint] = []
    if workloads.contains(where: \.needsFill) && !workloads.contains(where: \.isFill) {
      for contender in contenders {
        progress.show(round: round, of: rounds, "filling", contender.kind)
        footprints.append(
          try footprint(of: contender, round) {
            try runs.fill(contender)
          })
      }
    }
    var isWarm = false
    for workload in workloads {
      if workload.isFill { footprints = [] }
      if workload.reads && !isWarm {
        try warmUp(contenders, round)
        isWarm = true
      }
      for contender in contenders {
        progress.show(round: round, of: rounds, workload.rawValue, contender.kind)
        if workload.isFill {
          footprints.append(
            try footprint(of: contender, round) {
              outcome.measurements.append(try runs.run(workload, on: contender, round: round))
            })
        } else if workload.needsFill {
          outcome.measurements.append(try runs.run(workload, on: contender, round: round))
        } else {
          outcome.measurements.append(try runSynced(workload, contender.kind, round: round))
        }
        Machine.settle()
      }
    }
    for contender in contenders {
      try contender.close()
      for index in footprints.indices where footprints[index].engine == contender.kind {
        footprints[index].bytesAtEnd = Machine.diskBytes(under: contender.directory)
      }
    }
    outcome.footprints += footprints
  }

  /// Fills an emptied store and measures its space. The store is closed and opened again first, since engines then fold
  /// their logs into their tables: the size is that of the rows, and later workloads start on equal terms.
  private func footprint(of contender: Contender, _ round: Int, fill: () throws -> Void) throws -> Footprint {
    try contender.remove()
    let before = Machine.anonymousMemory()
    try contender.openEmpty()
    try fill()
    Machine.settle()
    let after = Machine.anonymousMemory()
    try contender.close()
    try contender.open()
    Machine.settle()
    return Footprint(
      engine: contender.kind, round: round, bytesAfterFill: Machine.diskBytes(under: contender.directory),
      memoryGrowth: before.flatMap { before in after.map { $0 - before } })
  }

  /// Reads everything once, untimed, to fill the caches as far as they can be filled.
  private func warmUp(_ contenders: [Contender], _ round: Int) throws {
    for contender in contenders {
      progress.show(round: round, of: rounds, "warming up", contender.kind)
      _ = try contender.session().scan()
    }
  }

  /// Runs a workload of synchronous puts on a small store of its own, opened so that every commit reaches the disk.
  private func runSynced(_ workload: Workload, _ kind: EngineKind, round: Int) throws -> Measurement {
    let contender = Contender(kind, in: directory, .synced)
    defer { try? contender.remove() }
    try contender.openEmpty()
    return try runs.run(workload, on: contender, round: round)
  }
}

/// Shows on standard error what is running, if that is a terminal.
struct Progress {
  private let isShown = isatty(2) == 1

  func show(round: Int, of rounds: Int, _ workload: String, _ engine: EngineKind) {
    write("\r\u{1B}[Kround \(round + 1)/\(rounds)  \(workload)  \(engine.name)")
  }

  func clear() {
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    if isShown { FileHandle.standardError.write(Data(text.utf8)) }
  }
}
