import RowFormat

/// Reads packs in the order of their lower bounds, and checks that the entries of each lie between its lower bound and
/// that of the next.
struct PackSequence {
  private var isFirst = true
  private var last: [UInt8] = []

  /// Calls `body` with each entry of the next pack.
  ///
  /// - Throws: `RowDamage`, and what `body` throws.
  mutating func read(_ bound: [UInt8], _ bytes: [UInt8], _ body: (_ entry: [UInt8]) throws -> Void) throws {
    defer { isFirst = false }
    guard isFirst || last.lexicographicallyPrecedes(bound) else {
      throw RowDamage("the previous pack has entries that belong to this one", at: 0)
    }
    var entries = try PackReader(bytes)
    var isEmpty = true
    while try entries.next() {
      guard !isEmpty || !entries.entry.lexicographicallyPrecedes(bound) else {
        throw RowDamage("the first entry is below the lower bound", at: 0)
      }
      isEmpty = false
      last = entries.entry
      try body(entries.entry)
    }
    guard !isEmpty else { throw RowDamage("a pack has no entries", at: 0) }
  }
}
