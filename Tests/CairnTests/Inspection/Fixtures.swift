import CairnInspection
import CairnSimulation

@testable import Cairn

/// Makes the stores under Tests/Data/Fixtures anew, in memory, with the same clock and the same random numbers. Another
/// version of liblz4 may compress values to other bytes; the values themselves are the same.
enum Fixtures {
  typealias Files = [String: [UInt8]]

  /// FORMAT.md, section 12: one keyspace, one row.
  static func example() throws -> Files {
    let machine = try FixtureMachine(random: [0x0F0E_0D0C_0B0A_0908, 0x0706_0504_0302_0100, 0x5EED])
    let store = try machine.open()
    try store.put(Array("capital".utf8), at: "Bern", in: try store.keyspace("cities"))
    // Taken before any background work runs: the manifest is that of a store whose process was killed at this moment.
    let files = machine.files()
    try store.close()
    return files
  }

  /// A store that was created and never written to.
  static func empty() throws -> Files {
    let machine = try FixtureMachine(random: [1, 2, 3])
    try machine.open().close()
    return machine.files()
  }

  /// Every type of key, values that are text and values that are not, raw and compressed, overwritten and deleted
  /// rows, an unordered keyspace, several segments, two epochs, and half a frame after the end of the log.
  static func everything() throws -> Files {
    let machine = try FixtureMachine(random: [0x1234_5678_9ABC_DEF0, 0x0FED_CBA9_8765_4321, 42])
    var store = try machine.open()
    try store.write { batch in
      let keyspace = try store.keyspace("references")
      for (number, key) in keys.enumerated() {
        try batch.put(values[number % values.count], at: key, in: keyspace)
      }
    }
    try store.write { batch in
      let keyspace = try store.keyspace("values \u{1F4CF}")
      for (number, value) in values.enumerated() { try batch.put(value, at: .integer(Int64(number)), in: keyspace) }
    }
    var random = SplitMix64(seed: 7)
    for round in 0..<9 {
      try store.write { batch in
        let heap = try store.keyspace("heap", order: .unordered)
        for _ in 0..<60 {
          let noise = (0..<192).map { _ in UInt8(truncatingIfNeeded: random.next()) }
          try batch.put(noise, at: .integer(Int64(random.next() % 400)), in: heap)
        }
      }
      try store.write { batch in
        let counters = try store.keyspace("counters")
        for number in 0..<40 where number % (round + 1) == 0 {
          if round == 4 {
            try batch.delete(.integer(Int64(number)), in: counters)
          } else {
            try batch.put(Array("round \(round)".utf8), at: .integer(Int64(number)), in: counters)
          }
        }
      }
    }
    try store.close()

    store = try machine.open()
    try store.write { batch in
      try batch.put(Array("second epoch".utf8), at: "after", in: try store.keyspace("references"))
      try batch.delete(.integer(0), in: try store.keyspace("references"))
    }
    let whole = machine.files()
    try store.write { batch in
      try batch.put(Array("torn".utf8), at: "torn", in: try store.keyspace("references"))
      try batch.put([], at: "away", in: try store.keyspace("references"))
    }
    try store.close()
    var files = machine.files()
    for (name, bytes) in files {
      guard let before = whole[name], before.count < bytes.count, name != ManifestFile.name else { continue }
      files[name] = Array(bytes[..<((before.count + bytes.count) / 2)])
    }
    return files
  }

  /// Segments that compaction wrote, with a list of moves for a checkpoint, a dropped keyspace, and later commits.
  static func compacted() throws -> Files {
    let machine = try FixtureMachine(random: [0xC0DE_0000_0000_0001, 0xC0DE_0000_0000_0002, 7])
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let gone = try store.keyspace("gone", order: .unordered)
    func write(_ round: UInt64, _ numbers: Range<Int64>) throws {
      try store.write { batch in
        for number in numbers {
          var random = SplitMix64(seed: UInt64(number) << 8 | round)
          let noise = (0..<180).map { _ in UInt8(truncatingIfNeeded: random.next()) }
          try batch.put(noise, at: .tuple([.integer(number), "row"]), in: rows)
          if round < 2 { try batch.put([UInt8(round)], at: .integer(number), in: gone) }
        }
      }
    }
    for round in 0..<4 as Range<UInt64> { try write(round, 0..<180) }
    try store.drop(gone)
    try store.checkpoint()
    try write(4, 0..<60)
    try store.write { batch in
      for number in 60..<90 as Range<Int64> { try batch.delete(.tuple([.integer(number), "row"]), in: rows) }
    }
    try store.compact(.everything)
    try write(5, 170..<190)
    let files = machine.files()
    try store.close()
    return files
  }

  /// Values compressed with a dictionary, values of the same keyspace from before the dictionary, and a checkpoint.
  static func dictionary() throws -> Files {
    let machine = try FixtureMachine(random: [5, 6, 7])
    let scheduler = ManualScheduler()
    let store = try machine.open(scheduler)
    let letters = try store.keyspace("letters")
    func letter(_ number: Int) -> [UInt8] {
      let thanks = String(repeating: "thank you for your letter. ", count: 200)
      return Array("Dear customer \(number * 7919 % 1000), \(thanks)".utf8)
    }
    for number in 0..<100 { try store.put(letter(number), at: .integer(Int64(number)), in: letters, .buffered) }
    scheduler.drain()
    for number in 90..<130 { try store.put(letter(number), at: .integer(Int64(number)), in: letters) }
    try store.put(Array("none of them".utf8), at: "another", in: try store.keyspace("others"))
    try store.checkpoint()
    try store.close()
    return machine.files()
  }

  /// Keyspaces that retain older versions: one with a constant number, one with fewer and then more, and one that was
  /// dropped; a checkpoint with older versions, segments that compaction wrote afterwards, and later commits.
  static func retained() throws -> Files {
    let machine = try FixtureMachine(random: [0xAB1D_0000_0000_0001, 0xAB1D_0000_0000_0002, 11])
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let heap = try store.keyspace("heap", order: .unordered)
    let gone = try store.keyspace("gone")
    try store.setRetention(.last(3), of: rows)
    try store.setRetention(.last(2), of: gone)
    func write(_ rounds: Range<Int64>) throws {
      for round in rounds {
        try store.write { batch in
          for number in 0..<40 as Range<Int64> where (number + round) % 4 != 0 {
            let value = Array("round \(round) of \(number)".utf8)
            if (number + round) % 3 == 0 {
              for keyspace in [rows, heap] { try batch.delete(.integer(number), in: keyspace) }
            } else {
              for keyspace in [rows, heap] { try batch.put(value, at: .integer(number), in: keyspace) }
            }
            if round < 3 { try batch.put(value, at: .integer(number), in: gone) }
          }
        }
      }
    }
    try write(0..<3)
    try store.drop(gone)
    try store.setRetention(.last(4), of: heap)
    try write(3..<7)
    try store.checkpoint()
    try store.setRetention(.last(2), of: heap)
    try write(7..<9)
    try store.compact(.everything)
    try store.setRetention(.last(5), of: heap)
    try write(9..<11)
    let files = machine.files()
    try store.close()
    return files
  }

  /// Two change readers, one of them too far behind, the deletions and the drop that are kept for the other one, and
  /// deletions that have been forgotten.
  static func followed() throws -> Files {
    let machine = try FixtureMachine(random: [0xF011_0000_0000_0001, 0xF011_0000_0000_0002, 13])
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let gone = try store.keyspace("gone")
    func delete(_ numbers: Range<Int64>) throws {
      try store.write { batch in for number in numbers { try batch.delete(.integer(number), in: rows) } }
      try store.checkpoint()
      for _ in 0..<2 { try store.compact(.everything) }
    }
    try store.write { batch in
      for number in 0..<100 as Range<Int64> { try batch.put([1, 2, 3], at: .integer(number), in: rows) }
      try batch.put([4], at: 1, in: gone)
    }
    try delete(0..<10)
    let position = try store.read { try $0.position() }
    try store.addChangeReader("b\u{FC}cher", since: position, mostBytes: 1 << 20, longestTime: .seconds(60))
    try store.addChangeReader("audit", since: position, mostBytes: 100)
    try store.drop(gone)
    try delete(20..<50)
    let files = machine.files()
    try store.close()
    return files
  }

  private static let keys: [Key] = [
    0, 1, -1, 255, 256, -255, -256, -257, 65_535, -65_536, .integer(.max), .integer(.min),
    "", "a", "ab", "a\0b", "Z\u{FC}rich", "\u{65E5}\u{672C}", "\u{1F600}", "quote \" and \\ and '", "\u{1B}[31mred",
    "\u{9B}31m", "\u{202E}reversed", "\u{200B}unseen", "line\nline\r\n\ttab",
    .uuid(0), .uuid(.max), .uuid(0x67E5_5044_10B1_426F_9247_BB68_0E5F_E0C8),
    .bytes([]), .bytes([0]), .bytes([0, 255]), .bytes([255, 255]), .bytes(Array(0...255)),
    [], [[]], [1, "a"], [1, "a", .bytes([0])], ["a\0", "b"], [["x", [0]], .bytes([0, 255, 0]), .uuid(1)],
    ["", .bytes([]), -1],
  ]

  private static let values: [[UInt8]] = [
    Array("text".utf8), [], Array("Z\u{FC}rich \u{1F600}\nline \"two\"\t\\".utf8), [0], [0xFF, 0xFE], Array(0...255),
    Array("\u{1B}[31mred".utf8), Array("\u{202E}reversed".utf8), Array("\u{9B}".utf8), [0xC0, 0x80],
    Array(String(repeating: "the same again and again, ", count: 80).utf8), [UInt8](repeating: 0, count: 3000),
  ]
}

/// A simulated machine whose clock stands still and whose random numbers are given.
struct FixtureMachine {
  let layer = MemoryFileLayer()
  private let clock: @Sendable () -> UInt64 = { 1_700_000_000_000_000_000 }
  private let random: @Sendable () -> UInt64

  init(random: [UInt64]) throws {
    let numbers = Monitor(random[...])
    self.random = { numbers.withLock { $0.popFirst() ?? 0 } }
    try layer.createDirectory("/machine")
  }

  /// Opens the store with a new scheduler by default, since closing a store ends its scheduler.
  func open(_ scheduler: ManualScheduler = ManualScheduler()) throws -> Store {
    var options = StoreOptions()
    options.segmentSize = 64 << 10
    let environment = Environment(files: layer, clock: clock, random: random, scheduler: scheduler)
    return try Store.open(at: "/machine/store", options: options, environment: environment)
  }

  /// The store's files by name, without the zeros at their ends. The watermark record is not synced, so by default it
  /// is left out, as if it had been lost with the power.
  func files(withWatermark: Bool = false) -> Fixtures.Files {
    var files: Fixtures.Files = [:]
    for (path, bytes) in layer.contents where path.hasPrefix("/machine/store/") {
      let name = String(path.dropFirst("/machine/store/".count))
      guard name != "LOCK", withWatermark || name != WatermarkRecord.fileName else { continue }
      let length = (bytes.lastIndex(where: { $0 != 0 }) ?? -1) + 1
      files[name] = name == ManifestFile.name ? bytes : Array(bytes.prefix(Format.padded(length)))
    }
    return files
  }
}
