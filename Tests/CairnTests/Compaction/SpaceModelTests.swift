import CairnSimulation
import Testing

@testable import Cairn

/// Whatever is written, the log stays within 1.3 times its needed bytes plus four segments, and no row is lost.
@Suite struct SpaceModelTests {
  private func everySeed(
    _ rounds: Int, test: String = #function, _ body: (inout WatchedStore) throws -> Void
  ) throws {
    var seeds = SplitMix64(seed: chooseSeed(test))
    for round in 0..<chooseRounds(rounds, debug: 1) {
      let seed = round == 0 ? 1 : seeds.next()
      do {
        var watched = try WatchedStore(seed: seed)
        try body(&watched)
        try watched.reopen()
        try watched.checkRows()
        try watched.overwrite(watched.rowCount / 4)
      } catch {
        Issue.record("seed \(seed): \(error)")
        throw error
      }
    }
  }

  @Test func overwritingTenTimesAsMuch() throws {
    try everySeed(6) { watched in
      try watched.fill()
      try watched.overwrite(10 * watched.rowCount)
      try watched.checkRows()
    }
  }

  @Test("G13: The log stays below its bound if some rows change often and others never.")
  func aHotAndAColdPart() throws {
    try everySeed(6) { watched in
      try watched.fill()
      try watched.overwriteHot(10 * watched.rowCount)
      try watched.checkRows()
    }
  }

  @Test func overwritingUnderAnOldSnapshot() throws {
    try everySeed(6) { watched in
      try watched.fill()
      let rows = watched.models[0]
      try watched.underSnapshot { (watched, snapshot) in
        try watched.overwrite(3 * watched.rowCount)
        try watched.overwriteHot(3 * watched.rowCount)
        try watched.checkRows(of: snapshot, rows)
      }
      try watched.overwrite(2 * watched.rowCount)
      try watched.checkRows()
    }
  }

  @Test func deletingNinetyPercent() throws {
    try everySeed(8) { watched in
      try watched.fill()
      if Bool.random(using: &watched.random) { try watched.overwrite(2 * watched.rowCount) }
      try watched.delete(watched.rowCount * 9 / 10)
      let live = watched.store.statistics.liveBytes
      try watched.store.compact()
      let settled = watched.store.statistics
      #expect(settled.liveBytes <= live + live / 100)
      #expect(settled.tombstoneBytes <= settled.logBytes / 100, "\(settled)")
      try watched.check()
      try watched.checkRows()
      try watched.fill()
      try watched.overwrite(2 * watched.rowCount)
    }
  }

  @Test func aQueueBesideRowsThatStay() throws {
    try everySeed(6) { watched in
      try watched.fill()
      for _ in 0..<100 { try watched.queue(watched.rowCount / 4) }
      try watched.checkRows()
    }
  }

  @Test func aQueueUnderAnOldSnapshot() throws {
    try everySeed(6) { watched in
      try watched.fill()
      let rows = watched.models[0]
      try watched.underSnapshot { (watched, snapshot) in
        for _ in 0..<20 {
          try watched.overwrite(watched.rowCount / 20)
          try watched.queue(watched.rowCount / 4)
        }
        try watched.checkRows(of: snapshot, rows)
      }
      for _ in 0..<20 { try watched.queue(watched.rowCount / 4) }
      try watched.checkRows()
    }
  }

  /// Snapshots end one after the other, and the records and tombstones that only they needed must go.
  @Test func deletingUnderSnapshots() throws {
    try everySeed(6) { watched in
      try watched.fill()
      for _ in 0..<6 {
        try watched.underSnapshot { (watched, snapshot) in
          let rows = watched.models[0]
          for _ in 0..<6 {
            let some = Int.random(in: 1...watched.rowCount / 4, using: &watched.random)
            switch Int.random(in: 0..<4, using: &watched.random) {
            case 0: try watched.delete(some / 4)
            case 1: try watched.queue(some)
            case 2: try watched.overwriteHot(some)
            default: try watched.overwrite(some)
            }
          }
          try watched.checkRows(of: snapshot, rows)
        }
        if Bool.random(using: &watched.random) { try watched.queue(watched.rowCount / 4) }
        try watched.reopen()
        try watched.checkRows()
      }
    }
  }

  @Test func droppingAKeyspace() throws {
    try everySeed(6) { watched in
      try watched.fill()
      try watched.fill(1)
      try watched.overwrite(watched.rowCount)
      try watched.drop(1)
      try watched.store.compact()
      try watched.check()
      try watched.fill(1)
      try watched.drop(1)
      try watched.overwrite(watched.rowCount)
      try watched.checkRows()
    }
  }

  @Test func reopeningInBetween() throws {
    try everySeed(6) { watched in
      try watched.fill()
      for _ in 0..<12 {
        try watched.overwrite(watched.rowCount / 2)
        try watched.reopen()
        if Int.random(in: 0..<4, using: &watched.random) == 0 { try watched.checkRows() }
      }
    }
  }

  @Test func everythingInTurns() throws {
    try everySeed(10) { watched in
      for _ in 0..<24 {
        let some = Int.random(in: 1...watched.rowCount, using: &watched.random)
        switch Int.random(in: 0..<11, using: &watched.random) {
        case 0: try watched.fill()
        case 1: try watched.fill(1)
        case 2: try watched.overwriteHot(3 * some)
        case 3: try watched.delete(some)
        case 4: try watched.drop(1)
        case 5: try watched.underSnapshot { (watched, _) in try watched.overwrite(some) }
        case 6:
          try watched.reopen()
          try watched.checkRows()
        case 7: try watched.store.compact(Bool.random(using: &watched.random) ? .worthwhile : .everything)
        case 8: try watched.store.checkpoint()
        case 9: try watched.queue(some)
        default: try watched.overwrite(2 * some)
        }
      }
      try watched.checkRows()
    }
  }

  @Test(arguments: [false, true])
  func aThousandOpensLeaveFewSegments(isKilled: Bool) throws {
    var machine = Machine(seed: 1)
    for round in 0..<1000 {
      let store = try machine.open()
      try store.put([UInt8(round % 256)], at: .integer(Int64(round)), in: store.keyspace("rows"), .buffered)
      machine.runBackground()
      try #require(store.statistics.segments <= 8)
      if isKilled { machine = try machine.kill() } else { try store.close() }
    }
    let store = try machine.open()
    try store.compact()
    #expect(store.statistics.segments <= 4)
    let rows = try store.keyspace("rows")
    for round in 0..<1000 { #expect(try store.get(.integer(Int64(round)), in: rows) == [UInt8(round % 256)]) }
  }
}

/// A store on a simulated machine, the rows it should have, and checks of the log's length every few commits.
private struct WatchedStore {
  var random: SplitMix64
  private(set) var store: Store
  /// The index in `values` of each row's value, by keyspace.
  private(set) var models: [[Int: Int]] = [[:], [:]]
  let rowCount: Int
  /// The next row number of the queue.
  private var queued: Int
  private var machine: Machine
  private let options: StoreOptions
  private let order: Keyspace.Order
  private let values: [[UInt8]]

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    var options = Machine.options
    options.segmentSize = [64, 64, 64, 128, 256, 1024].randomElement(using: &random)! << 10
    options.writesCheckpoints = Int.random(in: 0..<8, using: &random) > 0
    // A dictionary is as long as one of these segments: several early ones would make up most of such a log.
    options.firstTraining = 1 << 19
    self.options = options
    order = Bool.random(using: &random) ? .ordered : .unordered
    let length = [10, 40, 100, 100, 250, 500].randomElement(using: &random)!
    values = (0..<509).map { [length] number in
      let half = [UInt8].noise(length / 2 + number % 7, seed: seed &+ UInt64(number))
      return half + (number % 2 == 0 ? half : .noise(length / 2, seed: UInt64(number)))
    }
    rowCount = options.segmentSize * Int.random(in: 2...12, using: &random) / (length + 40)
    queued = rowCount
    machine = Machine(seed: seed)
    store = try machine.open(options)
  }

  private func keyspace(_ number: Int) throws -> Keyspace { try store.keyspace("rows \(number)", order: order) }

  // MARK: Writing

  /// Commits a few rows at a time, and runs background work after every few commits, after which the bound has to hold.
  private mutating func commit(_ rows: [Int], _ number: Int = 0, deletes: Bool = false, isWatched: Bool = true) throws {
    let keyspace = try keyspace(number)
    var left = rows[...]
    while !left.isEmpty {
      for _ in 0..<Int.random(in: 1...6, using: &random) where !left.isEmpty {
        let some = left.prefix(.random(in: 1...24, using: &random))
        left = left.dropFirst(some.count)
        try store.write(durability: .buffered) { batch in
          for row in some {
            let value = Int.random(in: values.indices, using: &random)
            if deletes {
              try batch.delete(.integer(Int64(row)), in: keyspace)
            } else {
              try batch.put(values[value], at: .integer(Int64(row)), in: keyspace)
            }
            models[number][row] = deletes ? nil : value
          }
        }
      }
      try runBackground()
      if isWatched { try check() }
    }
  }

  /// Random rows; they may or may not be in the store.
  private mutating func anyRows(_ count: Int) -> [Int] {
    (0..<count).map { _ in .random(in: 0..<rowCount, using: &random) }
  }

  /// All rows once, in order.
  mutating func fill(_ number: Int = 0) throws { try commit(Array(0..<rowCount), number) }

  mutating func overwrite(_ count: Int) throws { try commit(anyRows(count)) }

  /// Nine of ten writes go to a tenth of the rows.
  mutating func overwriteHot(_ count: Int) throws {
    try commit(anyRows(count).map { Int.random(in: 0..<10, using: &random) == 0 ? $0 : $0 / 10 })
  }

  /// Deletes rows of the store, in random order.
  mutating func delete(_ count: Int) throws {
    try commit(Array(models[0].keys.sorted().shuffled(using: &random).prefix(count)), deletes: true)
  }

  /// Adds new rows, then deletes them.
  mutating func queue(_ count: Int) throws {
    let rows = Array(queued..<queued + count)
    queued += count
    try commit(rows)
    try commit(rows, deletes: true)
  }

  mutating func drop(_ number: Int) throws {
    guard !models[number].isEmpty else { return }
    try store.drop(keyspace(number), .buffered)
    models[number] = [:]
    try noteLoss()
  }

  mutating func underSnapshot(_ body: (inout WatchedStore, Snapshot) throws -> Void) throws {
    let snapshot = store.snapshot()
    try body(&self, snapshot)
    snapshot.close()
    try noteLoss()
  }

  /// The store suddenly needs fewer bytes. Background work checks again only after some more has been written.
  private mutating func noteLoss() throws {
    let rows = options.segmentSize / 8 / 32 + 24
    try commit(anyRows(rows), isWatched: false)
    try check()
  }

  /// Reopens the store after a close, after the end of the process, or after a sync and a loss of power.
  mutating func reopen() throws {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: try store.close()
    case 1: machine = try machine.kill()
    default:
      try store.sync()
      machine = machine.crash()
    }
    store = try machine.open(options)
  }

  /// Runs background work until there is none left, which must happen since nothing is written meanwhile.
  private func runBackground() throws {
    for _ in 0..<20_000 where !machine.runOneInBackground() { return }
    Issue.record("background work goes on and on: \(store.statistics)")
    throw Failure()
  }

  // MARK: Looking

  func check() throws {
    let statistics = store.statistics
    let needed = statistics.liveBytes + statistics.pinnedBytes
    let bound = needed * 13 / 10 + 4 * options.segmentSize
    #expect(statistics.logBytes <= bound, "\(statistics)")
    guard statistics.logBytes <= bound else { throw Failure() }
  }

  /// The failure that has already been recorded.
  struct Failure: Error {}

  func checkRows() throws {
    for number in models.indices { try store.read { try checkRows(of: $0, models[number], number) } }
  }

  func checkRows(of snapshot: Snapshot, _ model: [Int: Int], _ number: Int = 0) throws {
    let keyspace = try keyspace(number)
    #expect(try snapshot.count(in: keyspace) == model.count)
    for (row, value) in model {
      let found = try snapshot.get(.integer(Int64(row)), in: keyspace)
      guard found != values[value] else { continue }
      Issue.record("row \(row) of \(number) is \(String(describing: found))")
      throw Failure()
    }
  }
}
