import CairnSimulation
import Testing

@testable import Cairn

/// What a reader sees of a store: the rows of each keyspace, and their histories.
struct StoreImage: Equatable, CustomStringConvertible {
  private var lines: [String] = []

  init(_ snapshot: Snapshot, _ keyspaces: [Keyspace], keys: Range<Int64>) throws {
    for keyspace in keyspaces.sorted(by: { $0.name < $1.name }) {
      var rows: [String] = []
      for row in try snapshot.rows(in: keyspace) {
        rows.append(
          "\(keyspace.name) \(row.key) = \(row.value.count):\(row.value.last ?? 0) \(row.version) \(row.sequence)")
      }
      lines += keyspace.order == .ordered ? rows : rows.sorted()
      lines.append("\(keyspace.name): \(try snapshot.count(in: keyspace)) rows")
      for key in keys {
        let history = try snapshot.history(of: .integer(key), in: keyspace)
        let words = history.map { "\($0.sequence)\($0.value == nil ? "-" : "+")" }
        if !history.isEmpty { lines.append("\(keyspace.name) \(key): \(words.joined(separator: " "))") }
        let row = try snapshot.get(.integer(key), in: keyspace)
        if row != history.first?.value { lines.append("\(keyspace.name) \(key) differs from its history") }
      }
    }
  }

  var description: String { lines.joined(separator: "\n") }

  /// The lines that only one of two images has.
  func difference(from other: StoreImage) -> String {
    let (mine, others) = (Set(lines), Set(other.lines))
    return
      (lines.filter { !others.contains($0) }.map { "+ \($0)" }
      + other.lines.filter { !mine.contains($0) }.map { "- \($0)" })
      .joined(separator: "\n")
  }
}

/// A random program of a writer that changes a store in every way it can, and of a reader that refreshes.
struct RefreshProgram {
  private static let keys: Range<Int64> = 0..<24
  private static let names = ["a", "b", "c"]

  private let machine: Machine
  private var random: SplitMix64
  private var writer: Store
  private var background = ManualScheduler()
  private var reader: Store
  private var held: [(snapshot: Snapshot, keyspaces: [Keyspace], image: StoreImage)] = []
  /// Snapshots of the writer: compaction copies what they need.
  private var pinning: [Snapshot] = []
  private var log: [String] = []

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    machine = Machine(seed: seed)
    writer = try Store.open(
      at: Machine.path, options: Self.options, environment: machine.environment(background))
    reader = try Self.read(machine)
  }

  private static var options: StoreOptions {
    var options = Machine.options
    options.firstTraining = 1 << 12
    return options
  }

  private static func read(_ machine: Machine) throws -> Store {
    var options = options
    options.access = .readOnly
    return try Store.open(at: Machine.path, options: options, environment: machine.environment(ManualScheduler()))
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      try step()
      if chance(3) { try refresh() }
    }
    try refresh()
    for (snapshot, _, _) in held { snapshot.close() }
    held = []
    for snapshot in pinning { snapshot.close() }
    try reader.refresh()
    try reader.refresh()
    try expectFigures()
    try reader.close()
    try writer.close()
  }

  private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

  private mutating func keyspace() throws -> Keyspace {
    let name = Self.names.randomElement(using: &random) ?? "a"
    return try writer.keyspace(name, order: name == "b" ? .unordered : .ordered)
  }

  private mutating func value() -> [UInt8] {
    let length = chance(6) ? 6000 : Int.random(in: 0..<300, using: &random)
    let first = UInt8.random(in: 0..<4, using: &random)
    return (0..<length).map { UInt8(truncatingIfNeeded: Int(first) &+ $0 / 7) }
  }

  private mutating func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<55:
      log.append("write")
      try writer.write(durability: chance(2) ? .durable : .buffered) { batch in
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          let key = Key.integer(.random(in: Self.keys, using: &random))
          let keyspace = try keyspace()
          if chance(3) { try batch.delete(key, in: keyspace) } else { try batch.put(value(), at: key, in: keyspace) }
        }
      }
    case 55..<63:
      log.append("retention")
      try writer.setRetention(.last(.random(in: 1...4, using: &random)), of: keyspace())
    case 63..<66:
      log.append("drop")
      let keyspace = try keyspace()
      try writer.drop(keyspace)
    case 66..<70:
      log.append("writer's snapshot")
      if chance(2) || pinning.isEmpty {
        pinning.append(writer.snapshot())
      } else {
        pinning.remove(at: Int.random(in: pinning.indices, using: &random)).close()
      }
    case 70..<80:
      log.append("compact")
      try writer.compact(chance(2) ? .everything : .worthwhile)
    case 80..<84:
      log.append("checkpoint")
      try writer.checkpoint()
    case 84..<92:
      log.append("background")
      background.drain()
    case 92..<95:
      log.append("reopen writer")
      for snapshot in pinning { snapshot.close() }
      pinning = []
      try writer.close()
      background = ManualScheduler()
      writer = try Store.open(
        at: Machine.path, options: Self.options, environment: machine.environment(background))
    case 95..<97:
      log.append("reopen reader")
      for (snapshot, _, _) in held { snapshot.close() }
      held = []
      try reader.close()
      reader = try Self.read(machine)
    default:
      log.append("snapshot")
      held.append((reader.snapshot(), reader.keyspaces, try image(reader)))
    }
  }

  private func image(_ store: Store) throws -> StoreImage {
    try store.read { try StoreImage($0, store.keyspaces, keys: Self.keys) }
  }

  private mutating func refresh() throws {
    if let error = failure({ try reader.refresh() }) {
      // The number of a dictionary has been used again.
      #expect(error.code == .replaced && error.message.contains("dictionary"), "\(error)\n\(steps)")
      for (snapshot, _, _) in held { snapshot.close() }
      held = []
      reader = try Self.read(machine)
    }
    #expect(reader.lastSequence == writer.lastSequence, "\(steps)")
    let (found, expected) = (try image(reader), try image(writer))
    #expect(found == expected, "\(found.difference(from: expected))\n\(steps)")
    for (snapshot, keyspaces, image) in held {
      let now = try StoreImage(snapshot, keyspaces, keys: Self.keys)
      #expect(now == image, "\(now.difference(from: image))\n\(steps)")
    }
    if chance(2), !held.isEmpty { held.remove(at: Int.random(in: held.indices, using: &random)).snapshot.close() }
  }

  /// The reader counts as one that has just been opened.
  private func expectFigures() throws {
    let fresh = try Self.read(machine)
    #expect(try image(reader) == image(fresh), "\(steps)")
    let (found, expected) = (reader.segmentStatistics, fresh.segmentStatistics)
    #expect(found.map(\.id) == expected.map(\.id), "\(steps)")
    #expect(found.map(\.end) == expected.map(\.end), "\(steps)")
    #expect(found.map(\.liveBytes) == expected.map(\.liveBytes), "\(steps)")
    #expect(reader.statistics.olderVersions == fresh.statistics.olderVersions, "\(steps)")
    #expect(reader.statistics.retiredBytes == 0)
    try fresh.close()
  }

  private var steps: String { log.suffix(60).joined(separator: ", ") }
}
