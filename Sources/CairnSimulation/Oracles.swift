import Cairn
import CairnInspection

/// Compares stores with the model, after every recovery and in between.
struct Oracles {
  let options: Program.Options
  let keys: Keys
  var tally = Tally()

  init(_ options: Program.Options) {
    self.options = options
    keys = Keys(options)
  }

  /// The keyspaces that are requested at each opening, and those of the others that exist.
  func keyspaces(_ store: Store) throws -> [Keyspace?] {
    let present = Set(store.keyspaces.map(\.name))
    return try Keys.names.indices.map { number in
      number < Keys.keyspaces || present.contains(Keys.names[number]) ? try keyspace(number, store) : nil
    }
  }

  func keyspace(_ number: Int, _ store: Store) throws(StoreError) -> Keyspace {
    try store.keyspace(Keys.names[number], order: keys.orders[number])
  }

  /// Writes a batch to keyspaces that have been requested before.
  func put(
    _ changes: [Change], _ durability: Durability, _ model: Model, _ store: Store, _ keyspaces: [Keyspace?]
  ) throws -> CommitSequence {
    try store.write(durability: durability) { batch in
      for change in changes {
        guard let keyspace = keyspaces[change.keyspace] else { fatalError("nobody has asked for it") }
        let key = keys.all[change.key]
        let expectation = model.expectation(change)
        switch change.kind {
        case .put(let length, let fill):
          try batch.put(Keys.value(length: length, fill: fill), at: key, in: keyspace, expecting: expectation)
        case .delete: try batch.delete(key, in: keyspace, expecting: expectation)
        case .check: try batch.check(key, in: keyspace, expectation)
        }
      }
    }
  }

  // MARK: Rows

  /// Requires that a snapshot shows what the model says: by key, in order from both ends, and as a count. In a damaged
  /// store, a read may fail instead.
  mutating func compare(
    _ snapshot: Snapshot, _ keyspaces: [Keyspace?], _ rows: Model.Rows, isDamaged: Bool = false
  ) throws {
    for (number, keyspace) in keyspaces.enumerated() {
      let expected = rows[number]
      guard let keyspace else {
        try require(
          expected.versions.isEmpty && expected.retention == 1, .rows, "keyspace \(Keys.names[number]) is missing")
        continue
      }
      var refused = try refusals(isDamaged) { try compareScans(snapshot, keyspace, expected) }
      for key in keys.all.indices {
        refused += try refusals(isDamaged) {
          try compare(try snapshot.row(keys.all[key], in: keyspace), expected[key], key)
        }
        refused += try refusals(isDamaged) {
          let history = try snapshot.history(of: keys.all[key], in: keyspace)
          try compare(history, expected.versions[key] ?? [], key)
        }
      }
      tally.refused += refused
      tally.checks += 2 * keys.all.count + 3
    }
  }

  private func refusals(_ isDamaged: Bool, _ body: () throws -> Void) throws -> Int {
    do {
      try body()
      return 0
    } catch let error as StoreError {
      guard isDamaged, error.code == .corrupted else { throw error }
      return 1
    }
  }

  private func compare(_ found: Row?, _ expected: Model.Row?, _ key: Int) throws {
    let row = found.map { Model.Row(value: $0.value, version: $0.version, sequence: $0.sequence) }
    try require(row == expected, .rows, "\(keys.all[key]) is \(Self.words(row)), not \(Self.words(expected))")
  }

  private func compare(_ found: [RowVersion], _ expected: [Model.Version], _ key: Int) throws {
    let history = found.map { Model.Version(value: $0.value, version: $0.version, sequence: $0.sequence) }
    try require(
      history == expected, .history,
      "the history of \(keys.all[key]) is \(Self.words(history)), not \(Self.words(expected))")
  }

  private static func words(_ versions: [Model.Version]) -> String {
    "\(versions.map { "\($0.sequence): \($0.value.map { "\($0.count) bytes" } ?? "deleted"), version \($0.version)" })"
  }

  private static func words(_ row: Model.Row?) -> String {
    row.map { "\($0.value.count) bytes, version \($0.version), sequence \($0.sequence)" } ?? "nothing"
  }

  private func compareScans(_ snapshot: Snapshot, _ keyspace: Keyspace, _ expected: Model.Keyspace) throws {
    var found = try snapshot.rows(in: keyspace)
    try require(found.count == expected.count, .rows, "\(found.count) rows, not \(expected.count)")
    let count = try snapshot.count(in: keyspace)
    try require(count == expected.count, .count, "a count is \(count), not \(expected.count)")
    let order = keys.sorted.filter { expected[$0] != nil }
    if keyspace.order == .unordered {
      found.sort { $0.key < $1.key }
    } else {
      let reversed = try snapshot.rows(in: keyspace, reverse: true)
      try require(reversed == found.reversed(), .order, "a reverse scan finds other rows")
      let middle = order.count / 2
      if middle > 0 {
        let part = try snapshot.rows(.from(keys.all[order[middle]]), in: keyspace)
        try require(part == Array(found.dropFirst(middle)), .order, "a scan from the middle finds other rows")
      }
    }
    for (row, key) in zip(found, order) {
      try require(
        row.key == keys.all[key], .order, "\(row.key) instead of \(keys.all[key])")
      try compare(row, expected[key], key)
    }
  }

  // MARK: Recovery

  /// Opens a disk as a crash may have left it, and compares everything. `model` is as it was when the power failed.
  mutating func verify(
    _ files: MemoryFileLayer, _ model: Model, floor: CommitSequence, seed: UInt64, isSecond: Bool = false
  ) throws {
    tally.crashStates += 1
    if isSecond { tally.secondCrashes += 1 }
    var random = SplitMix64(seed: seed)
    files.capacity = nil
    let machine = SimulatedMachine(files, seed: random.next())
    let watch = Watch(seed: random.next(), sampling: isSecond ? .none : .once(Int.random(in: 0..<40, using: &random)))
    watch.follow(files, model, floor: floor)
    defer { watch.end(files) }

    let store = try located("opening", .opening) { try machine.open(options) }
    tally.recoveries += 1
    defer { machine.close(store) }
    let sequence = store.lastSequence
    try require(sequence >= floor, .durability, "recovered commit \(sequence), but \(floor) was durable")
    guard let rows = model.state(at: sequence) else {
      throw Failure(.prefix, "recovered commit \(sequence), which matches no earlier state")
    }
    let keyspaces = try keyspaces(store)
    try store.read { try compare($0, keyspaces, rows) }
    try compareWithLog(store, files, rows)

    var next = model
    _ = next.recovered(at: sequence)
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<3: try writeAndCrash(files, store, keyspaces, &next, watch, &random)
    case 3: try readBeside(files, rows, seed: random.next())
    case 4: try inspect(files)
    case 5 where Bool.random(using: &random): try compareChanges(store, model, rows, &random)
    default: break
    }
    for capture in watch.takeCaptures() {
      tally.add(capture.tally)
      try located("second crash before \(capture.place)", .secondCrash) {
        try verify(
          capture.files, capture.model, floor: capture.floor, seed: random.next(), isSecond: true)
      }
    }
  }

  /// Requires that the indexes agree with the log, and the statistics with the space that the log takes.
  mutating func compareWithLog(_ store: Store, _ files: MemoryFileLayer, _ rows: Model.Rows) throws {
    guard let scan = try LogScan(files) else { throw Failure(.indexes, "there is no manifest") }
    try require(
      scan.lastSequence == store.lastSequence, .indexes,
      "the log ends with commit \(scan.lastSequence), the store with \(store.lastSequence)")
    let count = rows.reduce(0) { $0 + $1.count }
    try require(scan.rowCount == count, .indexes, "the log has \(scan.rowCount) rows, the store \(count)")
    for (number, rows) in rows.enumerated() where !rows.versions.isEmpty || rows.retention > 1 {
      guard let id = scan.keyspaces[Keys.names[number]] else {
        throw Failure(.indexes, "the log does not define keyspace \(Keys.names[number])")
      }
      for (key, versions) in rows.versions {
        let records = scan.histories[LogScan.RowKey(keyspace: id, key: keys.encoded[key])] ?? []
        let found = records.map {
          Model.Version(value: $0.isTombstone ? nil : $0.value ?? [], version: $0.version, sequence: $0.sequence)
        }
        try require(found == versions, .indexes, "the versions of \(keys.all[key]) differ in the log")
      }
      let retention = store.keyspaces.first { $0.name == Keys.names[number] }?.retention ?? .newest
      try require(
        retention.count == rows.retention, .indexes, "\(retention.count) versions are kept, not \(rows.retention)")
    }
    let versions = rows.reduce(0) { $0 + $1.versions.count }
    try require(
      scan.histories.count == versions, .indexes, "the log has \(scan.histories.count) histories, the store \(versions)"
    )
    let statistics = store.statistics
    try require(statistics.rows == count, .space, "\(statistics.rows) rows counted, not \(count)")
    try require(
      statistics.segments == scan.segments && statistics.logBytes == scan.logBytes, .space,
      "\(statistics.logBytes) bytes in \(statistics.segments) segments, not \(scan.logBytes) in \(scan.segments)")
    try require(
      statistics.liveBytes == scan.liveBytes, .space, "\(statistics.liveBytes) live bytes, not \(scan.liveBytes)")
    let older = rows.reduce(0) { $0 + $1.olderCount }
    try require(
      statistics.olderVersions == older, .space, "\(statistics.olderVersions) older versions, not \(older)")
    tally.checks += versions + 8
  }

  /// Requires that the recovered store can be written to, and that a second crash loses nothing that was acknowledged.
  private mutating func writeAndCrash(
    _ files: MemoryFileLayer, _ store: Store, _ keyspaces: [Keyspace?], _ model: inout Model, _ watch: Watch,
    _ random: inout SplitMix64
  ) throws {
    let change = Change(0, keys.probe, .put(length: 9, fill: 3))
    guard let next = model.after([change]), let keyspace = keyspaces[0] else { return }
    model.possible = next
    watch.follow(files, model, floor: max(model.durable, store.durableSequence))
    let sequence = try located("the first write", .results) {
      try store.put(
        Keys.value(length: 9, fill: 3), at: keys.all[keys.probe], in: keyspace, .durable)
    }
    model.committed(next, sequence)
    model.madeDurable(upTo: sequence)
    watch.follow(files, model, floor: sequence)
    let outcome =
      Bool.random(using: &random) ? MemoryFileLayer.CrashOutcome.lost : .random(seed: random.next())
    let crash = files.crash(outcome)
    tally.add(crash.tally)
    try located("crash after the first write, \(outcome)", .secondCrash) {
      try verify(crash.files, model, floor: sequence, seed: random.next(), isSecond: true)
    }
  }

  mutating func readBeside(_ files: MemoryFileLayer, _ rows: Model.Rows, seed: UInt64) throws {
    tally.readersBeside += 1
    try located("reading beside the writer", .readBeside) {
      let machine = SimulatedMachine(files, seed: seed)
      let reader = try machine.open(options, .readOnly)
      let keyspaces = try keyspaces(reader)
      try reader.read { try compare($0, keyspaces, rows) }
      machine.close(reader)
    }
  }

  /// Requires that a store opened for reading up to a commit shows the rows after that commit. It may refuse if
  /// compaction has looked at newer commits.
  mutating func lookBack(_ files: MemoryFileLayer, _ model: Model, to sequence: CommitSequence, seed: UInt64) throws {
    tally.lookedBack += 1
    try located("opened for reading up to commit \(sequence)", .lookingBack) {
      let machine = SimulatedMachine(files, seed: seed)
      let reader: Store
      do throws(StoreError) {
        reader = try machine.open(options, .readOnly, upTo: sequence)
      } catch {
        return try checkRefusal(error, files, sequence)
      }
      defer { machine.close(reader) }
      guard let (found, rows) = model.state(upTo: sequence) else { return }
      let last = reader.lastSequence
      try require(found...sequence ~= last, .lookingBack, "the store ends with commit \(last), not \(found)")
      let keyspaces = try keyspaces(reader)
      try reader.read { try compare($0, keyspaces, rows) }
    }
  }

  /// Requires that the store has refused because of a compaction of newer commits. Compaction removes superseded
  /// records, and only up to the commit that it has looked at.
  mutating func checkRefusal(_ error: StoreError, _ files: MemoryFileLayer, _ sequence: CommitSequence) throws {
    guard error.code == .commitNotFound else { throw error }
    let compacted = LogScan.compactedSequence(files)
    try require(compacted > sequence, .lookingBack, "refused, but compaction has only looked at \(compacted): \(error)")
    tally.refusedToGoBack += 1
  }

  private mutating func inspect(_ files: MemoryFileLayer) throws {
    let damage = try Verifier(at: SimulatedMachine.path, files: files).run().damage
    try require(damage.isEmpty, .verifier, "damage in a sound store: \(damage[0])")
    tally.checks += 1
  }

  // MARK: Damage

  /// Requires that a store on a damaged disk refuses to open, throws errors, or shows the right rows. The log may end
  /// early where nothing records that it was durable: the watermark is one group of commits behind, so that damage to
  /// the newest group cannot be told from a torn write.
  ///
  /// - Parameters:
  ///   - floor: The commit that must be found unless opening is refused, whatever watermark the disk has.
  ///   - refusals: The errors with which opening may be refused; nil for any.
  mutating func verifyDamaged(
    _ files: MemoryFileLayer, _ model: Model, floor: CommitSequence = 0, refusals: Set<StoreError.Code>? = nil,
    seed: UInt64
  ) throws {
    files.capacity = nil
    let machine = SimulatedMachine(files, seed: seed)
    let watermark = max(LogScan.watermark(files), floor)
    for round in 0..<2 {
      let store: Store
      do throws(StoreError) {
        store = try machine.open(options)
      } catch {
        try require(refusals?.contains(error.code) ?? true, .damage, "refused with another error: \(error)")
        tally.refused += 1
        return
      }
      defer { machine.close(store) }
      tally.recoveries += 1
      guard let rows = model.state(at: store.lastSequence), let keyspace = try keyspaces(store)[0] else {
        if round > 0 { return }
        throw Failure(.damage, "recovered commit \(store.lastSequence), which matches no earlier state")
      }
      try require(
        store.lastSequence >= watermark, .damage,
        "recovered commit \(store.lastSequence), but \(watermark) was known to be durable")
      let keyspaces = try keyspaces(store)
      try store.read { try compare($0, keyspaces, rows, isDamaged: true) }
      // The store accepts a write, or refuses it with an error.
      do throws(StoreError) {
        try store.put([1], at: keys.all[keys.probe], in: keyspace)
      } catch {
        tally.refused += 1
        continue
      }
      return try compareAfterWrite(store, keyspaces, rows)
    }
  }

  private mutating func compareAfterWrite(_ store: Store, _ keyspaces: [Keyspace?], _ rows: Model.Rows) throws {
    var expected = rows
    let version = (rows[0][keys.probe]?.version ?? 0) + 1
    expected[0].add(Model.Version(value: [1], version: version, sequence: store.lastSequence), keys.probe)
    try store.read { try compare($0, keyspaces, expected, isDamaged: true) }
  }
}
