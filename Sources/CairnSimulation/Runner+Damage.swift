import Cairn

/// Damage to copies of the disk, which are opened, read and discarded.
extension Runner {
  /// Flips one bit, on a disk that nobody uses or under an open store.
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
        // A store that is already open shows the right rows or throws errors.
        let machine = SimulatedMachine(files, seed: random.next())
        let open = try machine.open(oracles.options)
        guard let rows = model.state(at: open.lastSequence) else {
          throw Failure(.damage, "recovered commit \(open.lastSequence), which matches no earlier state")
        }
        let keyspaces = try oracles.keyspaces(open)
        try files.flip(mask, at: offset, in: path)
        try open.read { try oracles.compare($0, keyspaces, rows, isDamaged: true) }
        machine.close(open)
      } else {
        try files.flip(mask, at: offset, in: path)
      }
      try oracles.verifyDamaged(files, model, seed: random.next())
    }
  }

  /// A byte of any file but the lock, at most 64 bytes after the file's last byte that is not zero.
  private static func target(in files: MemoryFileLayer, _ random: inout SplitMix64) -> (path: String, offset: Int)? {
    let contents = files.contents.filter { !$0.key.hasSuffix("LOCK") && !$0.value.isEmpty }
    let paths = contents.keys.sorted()
    guard let path = paths.randomElement(using: &random), let bytes = contents[path] else { return nil }
    let end = min(bytes.count, (bytes.lastIndex { $0 != 0 } ?? 0) + 65)
    // The beginning of a file is small but important.
    return (path, Int.random(in: 0..<min(end, Bool.random(using: &random) ? 512 : end), using: &random))
  }

  /// Misdirects a write. The store continues to work without knowing.
  mutating func misdirect(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let files = machine.files.afterKill()
    files.capacity = nil
    guard let (path, offset) = Self.target(in: files, &random) else { return }
    let place = offset / 8 * 8
    let machine = SimulatedMachine(files, seed: random.next())
    let store = try machine.open(oracles.options)
    defer { machine.close(store) }
    var model = model
    guard model.recovered(at: store.lastSequence) else {
      throw Failure(.damage, "recovered commit \(store.lastSequence), which matches no earlier state")
    }
    let keyspaces = try oracles.keyspaces(store)
    files.strikeNext(
      .write, after: Int.random(in: 0..<5, using: &random), .goesTo(path: path, offset: place),
      label: Fault.misdirectedWrite.rawValue)
    var generator = ProgramGenerator(seed: random.next())
    try located("a write misdirected to \(place) of \(path)", .damage) {
      for _ in 0..<6 {
        guard case .write(let changes, let durability, _) = generator.write() else { continue }
        let usable = changes.map { Change($0.keyspace % Keys.keyspaces, $0.key % oracles.keys.probe, $0.kind) }
        guard let next = model.after(usable) else { continue }
        let before = store.lastSequence
        do {
          let sequence = try oracles.put(
            usable.filter { $0.kind != .check }, durability, model, store, keyspaces)
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

  // MARK: Whole files

  /// Damages a file that nobody has open, after the store has been closed, its process killed, or its machine has lost
  /// power.
  mutating func spoil(_ spoiling: Spoiling, _ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let files: MemoryFileLayer
    // `floor` is the commit that must be found if no segment is damaged, `known` the one that must be found if a
    // segment is.
    let floor: CommitSequence
    let known: CommitSequence
    let hasPower = store == nil || Bool.random(using: &random)
    if hasPower {
      files = machine.files.afterKill()
      (floor, known) = (model.newest, recorded)
    } else {
      let crash = machine.files.crash(.random(seed: random.next()))
      oracles.tally.add(crash.tally)
      oracles.tally.crashStates += 1
      files = crash.files
      (floor, known) = (model.floor, 0)
    }
    files.capacity = nil
    guard let path = spoiled(spoiling, files, &random) else { return }
    let words = try hurt(path, spoiling, files, &random)
    oracles.tally.faults[spoiling.fault, default: 0] += 1
    try located(words, .damage) {
      let isLog = path.hasSuffix(".segment") || path.hasSuffix(ManifestFile.name)
      let isMissed = path.hasSuffix(".segment") && Promise.lostEndIsNoticed
      let isNeedless = path.hasSuffix(".checkpoint") || path.hasSuffix(".moves")
      try oracles.verifyDamaged(
        files, model, floor: isMissed ? known : isLog ? 0 : floor,
        refusals: isNeedless ? [] : [.damaged, .corrupted, .notAStore, .notFound], seed: random.next())
    }
  }

  /// Picks a file that can be damaged in this way.
  private func spoiled(
    _ spoiling: Spoiling, _ files: MemoryFileLayer, _ random: inout SplitMix64
  ) -> String? {
    let contents = files.contents.filter { path, bytes in
      guard !path.hasSuffix("/LOCK") else { return false }
      return switch spoiling {
      case .cut, .zero: !bytes.isEmpty
      case .remove: true
      case .older: copies[path].map { $0 != bytes } ?? false
      }
    }
    let segments = contents.keys.filter { $0.hasSuffix(".segment") }.sorted()
    // Segments contain most of what can be lost. A loss at the end of the log is the hardest to notice.
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return segments.last { contents[$0].map { !$0.isEmpty } ?? false } ?? contents.keys.sorted().last
    case 1: return segments.randomElement(using: &random) ?? contents.keys.sorted().last
    default: return contents.keys.sorted().randomElement(using: &random)
    }
  }

  /// Damages a file durably. Returns a description of the damage.
  private func hurt(
    _ path: String, _ spoiling: Spoiling, _ files: MemoryFileLayer, _ random: inout SplitMix64
  ) throws -> String {
    if spoiling == .remove {
      try files.remove(path)
      try files.syncDirectory(SimulatedMachine.path)
      return "\(path) removed"
    }
    let bytes = files.contents[path] ?? []
    let file = try files.open(path, .readWrite)
    defer { file.close() }
    let words: String
    switch spoiling {
    case .cut, .zero:
      let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
      let place = [0, Int.random(in: 0..<end, using: &random), end * 3 / 4].randomElement(using: &random) ?? 0
      if spoiling == .cut {
        try file.truncate(place)
      } else {
        try write([UInt8](repeating: 0, count: bytes.count - place), at: place, to: file)
      }
      words = "\(path) \(spoiling == .cut ? "cut" : "zeroed") from \(place) of \(bytes.count) on"
    case .older, .remove:
      try file.truncate(0)
      try write(copies[path] ?? [], at: 0, to: file)
      words = "an older copy of \(path), \(copies[path]?.count ?? 0) bytes, not \(bytes.count)"
    }
    try file.sync()
    return words
  }

  private func write(_ bytes: [UInt8], at offset: Int, to file: any File) throws {
    try unsafe bytes.withUnsafeBytes { unsafe try file.write($0, at: offset) }
  }
}

extension Spoiling {
  fileprivate var fault: Fault {
    switch self {
    case .cut: .cutFile
    case .zero: .zeroedFile
    case .remove: .removedFile
    case .older: .olderFile
    }
  }
}
