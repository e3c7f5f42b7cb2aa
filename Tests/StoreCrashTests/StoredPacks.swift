import Cairn

/// The entries of a store, read from its packs.
enum StoredPacks {
  static func entries(_ rows: [Row]) throws -> [[UInt8]] {
    var all: [[UInt8]] = []
    for row in rows {
      guard case .bytes(let bound) = row.key else {
        throw CrashFailure("a pack has the key \(row.key)")
      }
      let entries = try entries(of: row.value)
      try require(!entries.isEmpty, "a pack is empty")
      try require(entries.allSatisfy { !$0.lexicographicallyPrecedes(bound) }, "an entry lies before its pack")
      if let last = all.last { try require(last.lexicographicallyPrecedes(bound), "an entry lies after its pack") }
      let size = entries.reduce(0) { $0 + $1.count }
      try require(entries.count == 1 || size <= 16 << 10, "a pack has \(size) bytes of entries")
      all += entries
    }
    try require(zip(all, all.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }, "entries do not rise")
    return all
  }

  private static func entries(of pack: [UInt8]) throws -> [[UInt8]] {
    var input = ByteReader(pack)
    try require(try input.byte() == 1, "a pack has another format")
    var last: [UInt8] = []
    let entries = try (0..<(try input.varint())).map { _ in
      let shared = try input.varint()
      try require(shared <= last.count, "an entry shares more than there is")
      last = last.prefix(shared) + (try input.counted())
      return last
    }
    try require(input.isAtEnd, "a pack has more after it")
    return entries
  }
}
