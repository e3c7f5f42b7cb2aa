import Cairn
import Foundation
import Testing

/// On the real file system, and optimised, because the values are large.
@Suite struct LargeValueModelTests {
  @Test(arguments: [false, true]) func aValueOf256MiBComesBackWhole(_ isCompressible: Bool) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cairn-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    var random = SplitMix64(seed: 5)
    var value = [UInt8](repeating: 42, count: 256 << 20)
    if !isCompressible {
      for index in stride(from: 0, to: value.count, by: 8) {
        let word = random.next()
        for byte in 0..<8 { value[index + byte] = UInt8(truncatingIfNeeded: word >> UInt64(8 * byte)) }
      }
    }

    func check(_ store: Store) throws {
      let rows = try store.keyspace("rows")
      #expect(try store.get("large", in: rows) == value)
      #expect(try store.get("before", in: rows) == [1])
      #expect(try store.get("after", in: rows) == [3])
      #expect(store.statistics.rows == 3)
    }

    let store = try Store.open(at: directory.path)
    let rows = try store.keyspace("rows")
    try store.put([1], at: "before", in: rows)
    try store.write { batch in
      try batch.put(value, at: "large", in: rows)
      try batch.put([3], at: "after", in: rows)
    }
    try check(store)
    store.close()
    let again = try Store.open(at: directory.path)
    try check(again)
    again.close()
  }
}
