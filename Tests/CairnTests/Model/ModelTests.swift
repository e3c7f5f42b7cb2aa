import Cairn
import CairnSimulation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Random programs, compared with a plain dictionary, with snapshots, restarts and crashes.
@Suite struct ModelTests {
  /// `CAIRN_SEED` replays one program; `CAIRN_PROGRAMS` sets how many programs run.
  static let seeds: [UInt64] = {
    if let seed = number("CAIRN_SEED") { return [seed] }
    return Array(1...(number("CAIRN_PROGRAMS") ?? usual))
  }()

  #if DEBUG
    private static let usual: UInt64 = 20
  #else
    private static let usual: UInt64 = 600
  #endif

  private static func number(_ variable: String) -> UInt64? {
    unsafe getenv(variable).flatMap { unsafe UInt64(String(cString: $0)) }
  }

  @Test func randomProgramsBehaveLikeADictionary() throws {
    for seed in Self.seeds {
      var program = try ModelProgram(seed: seed)
      do {
        try program.run(steps: 250)
      } catch {
        Issue.record("CAIRN_SEED=\(seed), step \(program.step): \(error)")
        return
      }
    }
  }

  /// Grows a tree, removes nine rows of ten, and grows it again, with keys of every shape.
  @Test(arguments: KeyShape.allCases) func anIndexThatShrinksAndGrowsKeepsItsRows(_ shape: KeyShape) throws {
    var random = SplitMix64(seed: 7)
    let count = shape == .zeros ? 1500 : 20_000
    let machine = Machine(seed: 3)
    var options = Machine.options
    options.segmentSize = 1 << 22
    let store = try machine.open(options)
    let keyspace = try store.keyspace("rows")
    var expected: ModelStore.Rows = [:]

    func check() throws {
      let rows = ModelStore.sorted(expected)
      try store.read { snapshot in
        #expect(try snapshot.count(in: keyspace) == rows.count)
        for reverse in [false, true] {
          var index = 0
          try snapshot.scan(in: keyspace, reverse: reverse) { key, value, _ in
            let (wanted, row) = rows[reverse ? rows.count - 1 - index : index]
            guard unsafe key.withUnsafeBytes({ unsafe Array($0) }) == wanted, value.byteCount == row.value.count else {
              throw Mismatch("row \(index) of \(rows.count), reverse \(reverse)")
            }
            index += 1
            return .next
          }
          #expect(index == rows.count)
        }
      }
    }

    for round in 1...2 {
      for chunk in stride(from: 0, to: count, by: 500) {
        try store.write(durability: .buffered) { batch in
          for number in (chunk..<min(chunk + 500, count)) {
            let key = shape.key(number)
            let value = [UInt8](repeating: UInt8(round), count: number % 60)
            try batch.put(value, at: key, in: keyspace)
            expected[key.encoded] = ModelStore.Row(value: value, version: 1, sequence: 1)
          }
        }
      }
      try check()
      var numbers = Array(0..<count)
      numbers.shuffle(using: &random)
      let doomed = numbers.prefix(count * 9 / 10)
      for chunk in stride(from: 0, to: doomed.count, by: 100) {
        try store.write(durability: .buffered) { batch in
          for number in doomed[chunk..<min(chunk + 100, doomed.count)] {
            try batch.delete(shape.key(number), in: keyspace)
            expected[shape.key(number).encoded] = nil
          }
        }
      }
      try check()
    }
    try store.close()
  }
}

struct Mismatch: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
