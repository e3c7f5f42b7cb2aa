import Cairn

/// Measures how fast a catalogue can be read.
struct Measurements {
  /// Reads of values, each package's once or more, in random order.
  let reads: Rate
  /// Scans of dependencies, each package's once or more, in random order.
  let prefixScans: Rate

  init(_ catalogue: CatalogueStore, for duration: Duration = .milliseconds(500)) throws {
    let snapshot = catalogue.store.snapshot()
    defer { snapshot.close() }
    var keys: [Key] = []
    var ranges: [KeyRange] = []
    try catalogue.packages.scan(at: snapshot) { encoded, _, _ in
      let key = try Key(encoded: encoded)
      keys.append(key)
      if case .tuple(let parts) = key { ranges.append(.prefix(Key.tuple(Array(parts.prefix(1))))) }
      return .next
    }
    var generator = SplitMix()
    keys.shuffle(using: &generator)
    ranges.shuffle(using: &generator)

    reads = try Self.rate(of: keys, for: duration) { key in
      _ = try catalogue.packages.withValue(key) { $0.byteCount }
    }
    prefixScans = try Self.rate(of: ranges, for: duration) { range in
      try catalogue.depends.scan(range, at: snapshot) { _, _, _ in .next }
    }
  }

  /// Calls `body` with all elements, repeatedly until the time is up.
  private static func rate<Element>(
    of elements: [Element], for duration: Duration, _ body: (Element) throws -> Void
  ) rethrows -> Rate {
    guard !elements.isEmpty else { return Rate() }
    let clock = ContinuousClock()
    let start = clock.now
    var count = 0
    repeat {
      for element in elements { try body(element) }
      count += elements.count
    } while clock.now - start < duration
    return Rate(count: count, seconds: (clock.now - start).inSeconds)
  }
}

/// A random number generator with the same sequence in every run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64 = 2026

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
