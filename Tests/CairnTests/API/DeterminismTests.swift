import Cairn
import CairnSimulation
import Synchronization
import Testing

@Suite struct DeterminismTests {
  private func run(
    _ seed: UInt64, tick: UInt64 = 1000
  ) throws -> (files: [String: [UInt8]], trace: [String]) {
    let machine = Machine(seed: seed, tick: tick)
    let trace = Mutex<[String]>([])
    machine.files.gate = { operation, path in trace.withLock { $0.append("\(operation) \(path)") } }
    var random = SplitMix64(seed: seed)
    var store = try machine.open()
    for round in 0..<120 {
      try store.write(durability: Bool.random(using: &random) ? .durable : .buffered) { batch in
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
          let keyspace = try store.keyspace("k\(Int.random(in: 0..<9, using: &random))", order: .unordered)
          let key = Key.integer(.random(in: 0..<50, using: &random))
          if Int.random(in: 0..<4, using: &random) == 0 {
            try batch.delete(key, in: keyspace)
          } else {
            let value = [UInt8](repeating: UInt8(round), count: .random(in: 0..<900, using: &random))
            try batch.put(value, at: key, in: keyspace)
          }
        }
      }
      if round % 4 == 0 { machine.runBackground() }
      if round % 30 == 29 {
        try store.close()
        store = try machine.open()
      }
    }
    try store.close()
    machine.files.gate = nil
    // The lock names its owner while it is held; it is empty now.
    return (machine.files.contents, trace.withLock { $0 })
  }

  @Test(
    "G24: The same seed gives the same bytes on disk and the same system calls.",
    arguments: 1...4 as ClosedRange<UInt64>)
  func sameSeed(_ seed: UInt64) throws {
    let one = try run(seed)
    let other = try run(seed)
    #expect(one.files.count > 5)
    #expect(one.files == other.files)
    #expect(one.trace == other.trace)
    #expect(try run(seed + 1).files != one.files)
  }

  @Test("D27: A clock that jumps back and forth changes no system call and no length of a file.")
  func jumpingClock() throws {
    let steady = try run(1)
    let jumping = try run(1, tick: 0x9E37_79B9_7F4A_7C15)
    #expect(jumping.files != steady.files)
    #expect(jumping.files.mapValues(\.count) == steady.files.mapValues(\.count))
    #expect(jumping.trace == steady.trace)
  }
}
