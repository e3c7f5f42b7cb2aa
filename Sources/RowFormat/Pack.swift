/// Neighbouring entries of a store in one row: STORE-FORMAT.md, section 7.
package enum Pack {
  package static let format: UInt8 = 1
  /// The most bytes that the entries of a pack may take together, unless the pack has only one.
  package static let mostBytes = 16 << 10

  package static func bytes(_ entries: Slice<EntryList>) -> [UInt8] {
    var output = ByteOutput()
    output.byte(format)
    output.varint(entries.count)
    for place in entries.indices {
      let shared = place == entries.startIndex ? 0 : entries.base.shared(at: place)
      output.varint(shared)
      output.counted(entries[place].dropFirst(shared))
    }
    return output.bytes
  }

  package static func entries(_ bytes: [UInt8]) throws(RowDamage) -> EntryList {
    var reader = try PackReader(bytes)
    var entries = EntryList()
    while try reader.next() { entries.append(reader.entry) }
    return entries
  }
}

/// Reads the entries of a pack one by one.
package struct PackReader {
  /// The entry read last.
  package private(set) var entry: [UInt8] = []
  /// The number of bytes that ``entry`` shares with the entry before it.
  package private(set) var shared = 0
  private var input: ByteInput
  private var left: Int
  private var isFirst = true
  private var total = 0

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    input = ByteInput(bytes)
    guard try input.byte() == Pack.format else {
      throw RowDamage("a pack does not begin with \(Pack.format)", at: 0)
    }
    left = try input.count()
  }

  /// Reads the next entry; returns false after the last one. Throws if the entries do not ascend.
  package mutating func next() throws(RowDamage) -> Bool {
    guard left > 0 else {
      try input.requireEnd()
      return false
    }
    left -= 1
    let shared = try input.varint()
    guard shared <= UInt64(entry.count) else { throw input.damage("an entry shares more than the previous one has") }
    let rest = try input.counted()
    guard isFirst || Int(shared) == entry.count || !rest.isEmpty && input.bytes[rest.lowerBound] > entry[Int(shared)],
      isFirst || !(Int(shared) == entry.count && rest.isEmpty)
    else { throw input.damage("entries do not ascend") }
    total += Int(shared) + rest.count
    guard isFirst || total <= Pack.mostBytes else {
      throw input.damage("entries take more than \(Pack.mostBytes) bytes in total")
    }
    isFirst = false
    self.shared = Int(shared)
    entry.removeLast(entry.count - Int(shared))
    entry.append(contentsOf: input.bytes[rest])
    return true
  }
}
