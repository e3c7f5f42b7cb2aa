/// The entries that a save adds and removes, one after the other in one buffer.
struct EntryChanges {
  private enum Kind: UInt8 {
    case added
    case removed
    case withdrawn
  }

  private struct Change {
    /// The first 16 bytes of the entry as a number, which decides most comparisons.
    let head: UInt128
    let start: Int
    let count: UInt32
    let kind: Kind

    var end: Int { start + Int(count) }
  }

  private var output = ByteOutput()
  private var changes: [Change] = []

  mutating func add(_ entry: [UInt8]) { note(entry, .added) }
  mutating func remove(_ entry: [UInt8]) { note(entry, .removed) }

  mutating func add(_ member: ObjectReference, of owner: RowReference, _ relationship: UInt32) {
    note(member, owner, relationship, .added)
  }

  mutating func remove(_ member: ObjectReference, of owner: RowReference, _ relationship: UInt32) {
    note(member, owner, relationship, .removed)
  }

  /// Removes an entry, whether or not it has been added before.
  mutating func withdraw(_ entry: [UInt8]) { note(entry, .withdrawn) }

  private mutating func note(_ entry: [UInt8], _ kind: Kind) {
    let start = output.bytes.count
    output.bytes.append(contentsOf: entry)
    note(from: start, kind)
  }

  private mutating func note(
    _ member: ObjectReference, _ owner: RowReference, _ relationship: UInt32, _ kind: Kind
  ) {
    let start = output.bytes.count
    output.member(member, of: owner, relationship)
    note(from: start, kind)
  }

  private mutating func note(from start: Int, _ kind: Kind) {
    let count = output.bytes.count - start
    changes.append(Change(head: head(start, count), start: start, count: UInt32(count), kind: kind))
  }

  private func head(_ start: Int, _ count: Int) -> UInt128 {
    var (high, low): (UInt64, UInt64) = (0, 0)
    for place in 0..<min(8, count) { high |= UInt64(output.bytes[start + place]) << UInt64(56 - 8 * place) }
    for place in 8..<max(8, min(16, count)) {
      low |= UInt64(output.bytes[start + place]) << UInt64(120 - 8 * place)
    }
    return UInt128(high) << 64 | UInt128(low)
  }

  /// Each entry once and in order. An entry that is both removed and added exists in the end.
  var sorted: (removed: EntryList, added: EntryList) {
    var (removed, added) = (EntryList(), EntryList())
    let ordered = changes.sorted { $0.head != $1.head ? $0.head < $1.head : isBefore($0, $1) }
    var place = 0
    while place < ordered.count {
      let first = ordered[place]
      var isAdded = false
      while place < ordered.count, isSame(first, ordered[place]) {
        switch ordered[place].kind {
        case .added: isAdded = true
        case .removed: break
        case .withdrawn: isAdded = false
        }
        place += 1
      }
      if isAdded {
        added.append(output.bytes, first.start..<first.end)
      } else {
        removed.append(output.bytes, first.start..<first.end)
      }
    }
    return (removed, added)
  }

  private func bytes(of change: Change) -> ArraySlice<UInt8> {
    output.bytes[change.start..<change.end]
  }

  /// Orders changes with equal heads by their entries, and those of one entry as they were made.
  private func isBefore(_ one: Change, _ other: Change) -> Bool {
    if one.count <= 16, one.count == other.count { return one.start < other.start }
    let (left, right) = (bytes(of: one), bytes(of: other))
    if left.lexicographicallyPrecedes(right) { return true }
    return one.start < other.start && left == right
  }

  private func isSame(_ one: Change, _ other: Change) -> Bool {
    guard one.head == other.head, one.count == other.count else { return false }
    return one.count <= 16 || bytes(of: one) == bytes(of: other)
  }
}
