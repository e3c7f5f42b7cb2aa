/// A snapshot that shows its entries as they are after some changes.
final class AmendedSnapshot: RowSnapshot {
  private let snapshot: any RowSnapshot
  private let removed: Set<[UInt8]>
  /// In order.
  private let added: [[UInt8]]

  init(_ snapshot: any RowSnapshot, removed: [[UInt8]], added: [[UInt8]]) {
    self.snapshot = snapshot
    self.removed = Set(removed)
    self.added = added
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    try snapshot.row(reference, in: table)
  }

  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws {
    try snapshot.forEachRow(in: table, from: first, body)
  }

  func count(in table: UInt32) throws -> Int { try snapshot.count(in: table) }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    let inside = added.filter { entry in
      !entry.lexicographicallyPrecedes(lower) && upper.map { entry.lexicographicallyPrecedes($0) } ?? true
    }
    var new = (reverse ? inside.reversed() : inside)[...]
    var isDone = false
    try snapshot.forEachEntry(from: lower, before: upper, reverse: reverse) { entry in
      while let first = new.first,
        reverse ? entry.lexicographicallyPrecedes(first) : first.lexicographicallyPrecedes(entry)
      {
        new.removeFirst()
        guard try body(first) else {
          isDone = true
          return false
        }
      }
      if new.first == entry { new.removeFirst() }
      guard try removed.contains(entry) || body(entry) else {
        isDone = true
        return false
      }
      return true
    }
    while !isDone, let first = new.popFirst() { isDone = try !body(first) }
  }
}
