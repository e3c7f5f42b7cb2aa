import Cairn

/// Damage: on copies of the disk, which are opened, read, and left behind.
extension Runner {
  /// Bits of one byte change, on a disk nobody uses or under an open store.
  mutating func flip(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let files: MemoryFileLayer
    if Bool.random(using: &random) {
      files = machine.files.afterKill()
    } else {
      let crash = machine.files.crash(.random(seed: random.next()))
      oracles.tally.add(crash.tally)
      oracles.tally.crashStates += 1
      files = crash.files
    }
    files.capacity = nil
    guard let (path, offset) = Self.target(in: files, &random) else { return }
    let mask = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
    oracles.tally.faults[.bitFlip, default: 0] += 1
    try located("bits \(mask) flipped at \(offset) of \(path)", .damage) {
      if Bool.random(using: &random) {
        // What is open already gives what is right, or errors.
        let open = try SimulatedMachine(files, seed: random.next()).open(oracles.options)
        guard let rows = model.state(at: open.lastSequence) else {
          throw Failure(.damage, "recovered commit \(open.lastSequence), which is no state there was")
        }
        let keyspaces = try oracles.keyspaces(open)
        try files.flip(mask, at: offset, in: path)
        try open.read { try oracles.compare($0, keyspaces, rows, isDamaged: true) }
        try open.close()
      } else {
        try files.flip(mask, at: offset, in: path)
      }
      try oracles.verifyDamaged(files, model, seed: random.next())
    }
  }

  /// A byte that means something, of any file but the lock.
  private static func target(in files: MemoryFileLayer, _ random: inout SplitMix64) -> (path: String, offset: Int)? {
    let contents = files.contents.filter { !$0.key.hasSuffix("LOCK") && !$0.value.isEmpty }
    let paths = contents.keys.sorted()
    guard let path = paths.randomElement(using: &random), let bytes = contents[path] else { return nil }
    let end = min(bytes.count, (bytes.lastIndex { $0 != 0 } ?? 0) + 65)
    // The beginning is small and matters.
    return (path, Int.random(in: 0..<min(end, Bool.random(using: &random) ? 512 : end), using: &random))
  }

  /// A write lands elsewhere, and the store works on without knowing.
  mutating func misdirect(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let files = machine.files.afterKill()
    files.capacity = nil
    guard let (path, offset) = Self.target(in: files, &random) else { return }
    let place = offset / 8 * 8
    let store = try SimulatedMachine(files, seed: random.next()).open(oracles.options)
    defer { try? store.close() }
    var model = model
    guard model.recovered(at: store.lastSequence) else {
      throw Failure(.damage, "recovered commit \(store.lastSequence), which is no state there was")
    }
    let keyspaces = try oracles.keyspaces(store)
    files.strikeNext(
      .write, after: Int.random(in: 0..<5, using: &random), .goesTo(path: path, offset: place),
      label: Fault.misdirectedWrite.rawValue)
    var generator = ProgramGenerator(seed: random.next())
    try located("a write goes to \(place) of \(path)", .damage) {
      for _ in 0..<6 {
        guard case .write(let changes, let durability, _) = generator.write() else { continue }
        let usable = changes.map { Change($0.keyspace, $0.key % oracles.keys.probe, $0.kind) }
        guard let next = model.after(usable) else { continue }
        let before = store.lastSequence
        do {
          let sequence = try store.write(durability) { batch in
            for change in usable {
              let reference = oracles.keys.references[change.key]
              switch change.kind {
              case .put(let length, let fill):
                try batch.put(Keys.value(length: length, fill: fill), at: reference, in: keyspaces[change.keyspace])
              case .delete: try batch.delete(reference, in: keyspaces[change.keyspace])
              case .check: break
              }
            }
          }
          model.committed(next, sequence)
        } catch let error as StoreError {
          oracles.tally.refused += 1
          if store.lastSequence > before {
            model.committed(next, store.lastSequence)
          } else if error.code == .poisoned {
            model.possible = next
            break
          }
        }
        if Bool.random(using: &random) {
          do throws(StoreError) { try store.checkpoint() } catch { oracles.tally.refused += 1 }
        }
      }
      try store.read { try oracles.compare($0, keyspaces, model.rows, isDamaged: true) }
      let left = Bool.random(using: &random) ? files.afterKill() : files.crash(.random(seed: random.next())).files
      try oracles.verifyDamaged(left, model, seed: random.next())
    }
    oracles.tally.add(files)
  }
}
