import Cairn

/// Writes rows as the benchmark of the engines does: random keys, half-compressible values, 1,000 rows per commit.
struct Load {
  private let store: Store
  private let keyspace: Keyspace
  private let rows: Int
  private let values: [[UInt8]]

  init(at path: String, _ order: Keyspace.Order, _ rows: Int) throws {
    store = try Store.open(at: path)
    keyspace = try store.keyspace("rows", order: order)
    self.rows = rows
    values = (0..<4096).map { number in
      let half = (0..<50).map { UInt8(truncatingIfNeeded: Self.mix(UInt64(number * 64 + $0))) }
      return half + half
    }
  }

  private static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// 16 bytes: a hash of the row's number, and the number.
  static func key(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: (mix(number).bigEndian, number.bigEndian)) { Array($0) }
  }

  private func write(_ numbers: Range<UInt64>, _ row: (UInt64) -> UInt64) throws {
    try store.write(durability: .buffered) { batch in
      for number in numbers {
        try keyspace.put(values[Int(number % 4096)], at: Key.bytes(Self.key(row(number))), in: &batch)
      }
    }
  }

  /// The time it took to write all rows, and to close the store.
  func fill() throws -> (Duration, Duration) {
    let clock = ContinuousClock()
    let fill = try clock.measure {
      var number: UInt64 = 0
      while number < UInt64(rows) {
        let end = min(number + 1000, UInt64(rows))
        try write(number..<end) { $0 }
        number = end
      }
    }
    return (fill, try clock.measure { try store.close() })
  }

  func overwrite() throws {
    var number: UInt64 = 0
    while true {
      try write(number..<number + 1000) { Self.mix($0 ^ 0x5EED) % UInt64(rows) }
      number += 1000
    }
  }
}
