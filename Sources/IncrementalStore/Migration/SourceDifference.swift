/// The difference between the entries that follow from a store and those that it has under their number, found in
/// memory that does not grow with their number.
struct SourceDifference {
  /// The entries that the store lacks, in order.
  private(set) var missing: [[UInt8]] = []
  /// The entries that the store has and that do not follow, in order.
  private(set) var surplus: [[UInt8]] = []
  /// Whether there is no more difference.
  private(set) var isWhole = true

  /// - Parameter limit: About how many entries are held in memory.
  init(_ source: any EntrySource, _ snapshot: any RowSnapshot, limit: Int) throws {
    var digests = EntryDigests()
    try Self.forEach(source, snapshot) { digests.add($0) }
    try snapshot.forEachEntry(beginningWith: Entry.all(of: source.number)) { entry in
      digests.subtract(entry)
      return true
    }
    var groups = digests.differences(limit)[...]
    while missing.isEmpty, surplus.isEmpty, let group = groups.popFirst() {
      try take(group, source, snapshot)
      isWhole = groups.isEmpty
    }
  }

  private static func forEach(
    _ source: any EntrySource, _ snapshot: any RowSnapshot, _ body: ([UInt8]) throws -> Void
  ) throws {
    var reader = source.reader()
    _ = try reader.read(snapshot, limit: .max, body)
  }

  private mutating func take(_ group: Set<Int>, _ source: any EntrySource, _ snapshot: any RowSnapshot) throws {
    var wanted: Set<[UInt8]> = []
    var known: Set<[UInt8]> = []
    try Self.forEach(source, snapshot) { entry in
      if group.contains(EntryDigests.part(of: entry)) { wanted.insert(entry) }
    }
    try snapshot.forEachEntry(beginningWith: Entry.all(of: source.number)) { entry in
      if group.contains(EntryDigests.part(of: entry)) { known.insert(entry) }
      return true
    }
    missing = wanted.subtracting(known).sorted { $0.lexicographicallyPrecedes($1) }
    surplus = known.subtracting(wanted).sorted { $0.lexicographicallyPrecedes($1) }
  }
}

/// Digests of two sets of entries, each divided into parts by a hash. Parts that are not the same have the same digest
/// with a probability of less than 2⁻¹⁰⁰.
struct EntryDigests {
  private struct Part {
    /// The sums of two hashes of the entries of one set, minus those of the other.
    var sums: (UInt64, UInt64) = (0, 0)
    /// How many entries both sets have.
    var count = 0
  }

  private static let partCount = 4096
  private var parts = [Part](repeating: Part(), count: partCount)

  static func part(of entry: [UInt8]) -> Int { part(of: hash(entry, 0)) }

  private static func part(of hash: UInt64) -> Int { Int(hash % UInt64(partCount)) }

  private static func hash(_ entry: [UInt8], _ number: UInt8) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(number)
    unsafe entry.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  mutating func add(_ entry: [UInt8]) { change(entry) { $0 &+= $1 } }

  mutating func subtract(_ entry: [UInt8]) { change(entry) { $0 &-= $1 } }

  private mutating func change(_ entry: [UInt8], _ add: (inout UInt64, UInt64) -> Void) {
    let hash = Self.hash(entry, 0)
    let place = Self.part(of: hash)
    add(&parts[place].sums.0, hash)
    add(&parts[place].sums.1, Self.hash(entry, 1))
    parts[place].count += 1
  }

  /// The parts that differ, in groups that have at most `limit` entries, or one part.
  func differences(_ limit: Int) -> [Set<Int>] {
    var groups: [Set<Int>] = []
    var count = 0
    for (place, part) in parts.enumerated() where part.sums != (0, 0) {
      if groups.isEmpty || count + part.count > limit {
        groups.append([])
        count = 0
      }
      groups[groups.count - 1].insert(place)
      count += part.count
    }
    return groups
  }
}
