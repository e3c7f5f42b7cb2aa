import Cairn

/// The keys and keyspaces of a program, made once.
struct Keys: Sendable {
  /// The number of keyspaces that are requested when a store is opened. The others are requested when they are needed.
  static let keyspaces = 3
  static let names = ["first", "second", "third", "fourth", "fifth"]

  let all: [Key]
  let encoded: [[UInt8]]
  /// The numbers of the keys, in the order of the keys.
  let sorted: [Int]
  /// The position of each key in that order.
  let rank: [Int]
  let orders: [Keyspace.Order]

  /// The key after those that programs use; the oracles write to it.
  var probe: Int { all.count - 1 }

  init(_ options: Program.Options) {
    all = (0...options.keyCount).map { options.keys.key($0) }
    encoded = all.map(\.encoded)
    let encoded = encoded
    sorted = encoded.indices.sorted { encoded[$0].lexicographicallyPrecedes(encoded[$1]) }
    var rank = [Int](repeating: 0, count: encoded.count)
    for (place, key) in sorted.enumerated() { rank[key] = place }
    self.rank = rank
    orders =
      options.isOrdered
      ? [.ordered, .ordered, .unordered, .ordered, .unordered]
      : [.unordered, .unordered, .ordered, .unordered, .ordered]
  }

  static func value(length: Int, fill: Int) -> [UInt8] {
    if fill.isMultiple(of: 2) { return [UInt8](repeating: UInt8(truncatingIfNeeded: fill / 2), count: length) }
    var random = SplitMix64(seed: UInt64(fill))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length + 8)
    while bytes.count < length {
      let word = random.next()
      for shift in 0..<8 as Range<UInt64> { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
    }
    bytes.removeLast(bytes.count - length)
    return bytes
  }
}
