import Cairn
import CairnSimulation
import Testing

/// Scans of leaves that are merged during the scan.
@Suite struct ScanTests {
  private static func key(_ number: Int) -> Key {
    // All heads after that of the first row are alike, and the leaf that these rows share has no prefix.
    .bytes([UInt8](repeating: 0x61, count: 20) + [UInt8(number / 256), UInt8(number % 256)])
  }

  /// Deleted rows stay in their leaves while a snapshot sees them; when the snapshot ends, leaves can merge.
  @Test("G6: A scan returns each row exactly once while leaves merge.", arguments: [false, true])
  func merging(_ isReverse: Bool) throws {
    for removed in [10..<60, 70..<88, 3..<80] {
      for stop in 0..<16 {
        let machine = Machine()
        let store = try machine.open()
        let rows = try store.keyspace("rows")
        try store.put([1], at: .bytes([]), in: rows, .buffered)
        for number in 0..<92 { try store.put([1], at: Self.key(number), in: rows, .buffered) }
        try store.put([1], at: .bytes([0xFF]), in: rows, .buffered)
        let earlier = store.snapshot()
        for number in removed { try store.delete(Self.key(number), in: rows, .buffered) }
        let snapshot = store.snapshot()
        let expected = try snapshot.rows(in: rows).map(\.key)
        var seen: [Key] = []
        try snapshot.scan(in: rows, reverse: isReverse) { key, _, _ in
          if seen.count == stop { earlier.close() }
          seen.append(try Key(encoded: key))
          return .next
        }
        #expect(seen == (isReverse ? expected.reversed() : expected), "\(removed) \(stop)")
      }
    }
  }
}
