/// How each workload is run against one engine.
struct Runs {
  static let synchronousPuts = 2_000
  static let synchronousPutsOnThreads = 8_000
  private static let putsPerBatch = 1_000
  private static let rowsAfterSeek = 10
  private static let openings = 5

  let rows: UInt64
  let operations: Int
  let pool: ValuePool

  func run(_ workload: Workload, on contender: Contender, round: Int) throws -> Measurement {
    switch workload {
    case .fillrandom:
      return try put(workload, everyRow, perCommit: 1, on: contender, round)
    case .fillbatch:
      return try put(workload, everyRow, perCommit: Self.putsPerBatch, on: contender, round)
    case .overwrite:
      return try put(workload, randomRows(seed: 1, round, version: 1), perCommit: 1, on: contender, round)
    case .readrandom, .readrandom2:
      return try get(workload, randomRows(seed: 2, round), on: contender, round)
    case .readmissing:
      let missing = AccessPattern(random: rows..<rows * 2, count: operations, seed: 3, pool: pool)
      return try get(workload, missing, on: contender, round)
    case .readseq:
      return try read(workload, operations: Int(rows), on: contender, round) { try $0.scan() }
    case .seekrandom:
      let count = max(1, operations / 4)
      let pattern = randomRows(seed: 4, round).limited(to: 0..<count)
      return try read(workload, operations: count, on: contender, round) {
        try $0.seek(pattern, next: Self.rowsAfterSeek)
      }
    case .readwhilewriting:
      return try readWhileWriting(on: contender, round)
    case .open:
      return try open(contender, round)
    case .fillsync, .fillsync8, .fillsync16:
      return try fillSync(workload, on: contender, round)
    }
  }

  /// Fills a store that a selected workload needs and no selected workload fills; not measured.
  func fill(_ contender: Contender) throws {
    try contender.session().put(everyRow, perCommit: Self.putsPerBatch)
  }

  private var everyRow: AccessPattern {
    AccessPattern(ascending: 0..<rows, pool: pool)
  }

  private func randomRows(seed: UInt64, _ round: Int, version: UInt64 = 0) -> AccessPattern {
    AccessPattern(
      random: 0..<rows, count: operations, seed: seed &+ UInt64(round) << 8, pool: pool, version: version)
  }

  private func put(
    _ workload: Workload, _ pattern: AccessPattern, perCommit: Int, on contender: Contender, _ round: Int
  ) throws -> Measurement {
    let session = try contender.session()
    let nanoseconds = try timed { try session.put(pattern, perCommit: perCommit) }
    return Measurement(
      engine: contender.kind, workload: workload, round: round, operations: pattern.steps.count,
      nanoseconds: nanoseconds, reading: nil)
  }

  private func read(
    _ workload: Workload, operations: Int, on contender: Contender, _ round: Int,
    _ body: (any Session) throws -> Reading
  ) throws -> Measurement {
    let session = try contender.session()
    var reading = Reading()
    let nanoseconds = try timed { reading = try body(session) }
    return Measurement(
      engine: contender.kind, workload: workload, round: round, operations: operations, nanoseconds: nanoseconds,
      reading: reading)
  }

  private func get(
    _ workload: Workload, _ pattern: AccessPattern, on contender: Contender, _ round: Int
  ) throws -> Measurement {
    let threads = workload.threads
    let sessions = try contender.sessions(threads)
    let (parts, nanoseconds) = try onThreads(threads) { index in
      try sessions[index].get(pattern.share(index, of: threads), .fixed)
    }
    return Measurement(
      engine: contender.kind, workload: workload, round: round, operations: pattern.steps.count,
      nanoseconds: nanoseconds, reading: merged(parts))
  }

  private func readWhileWriting(on contender: Contender, _ round: Int) throws -> Measurement {
    let gets = randomRows(seed: 5, round)
    let puts = randomRows(seed: 6, round, version: 2)
    let (reader, writer) = try readBesideWriter(try contender.sessions(2), gets: gets, puts: puts)
    return Measurement(
      engine: contender.kind, workload: .readwhilewriting, round: round, operations: reader.operations,
      nanoseconds: reader.nanoseconds, reading: reader.reading,
      besideWrites: Double(writer.operations) / Double(writer.nanoseconds) * 1_000_000)
  }

  /// Measures several openings of a filled store, each with its first lookup, and takes the median; the closing before
  /// each is not timed.
  private func open(_ contender: Contender, _ round: Int) throws -> Measurement {
    var times: [UInt64] = []
    var reading = Reading()
    let pattern = randomRows(seed: 7, round).limited(to: 0..<1)
    for _ in 0..<Self.openings {
      try contender.close()
      let nanoseconds = try timed {
        try contender.open()
        reading = try contender.session().get(pattern, .fixed)
      }
      times.append(nanoseconds)
    }
    return Measurement(
      engine: contender.kind, workload: .open, round: round, operations: 1,
      nanoseconds: times.sorted()[times.count / 2], reading: reading)
  }

  /// Measures puts that are synced one by one, then reads them all back, untimed.
  private func fillSync(_ workload: Workload, on contender: Contender, _ round: Int) throws -> Measurement {
    let threads = workload.threads
    let count = threads == 1 ? Self.synchronousPuts : Self.synchronousPutsOnThreads
    let pattern = AccessPattern(ascending: 0..<UInt64(count), pool: pool)
    let sessions = try contender.sessions(threads)
    let (_, nanoseconds) = try onThreads(threads) { index in
      try sessions[index].put(pattern.share(index, of: threads), perCommit: 1)
    }
    return Measurement(
      engine: contender.kind, workload: workload, round: round, operations: count, nanoseconds: nanoseconds,
      reading: try sessions[0].get(pattern, .fixed))
  }
}

private func merged(_ parts: [Reading]) -> Reading {
  parts.reduce(into: Reading()) { $0.merge($1) }
}
