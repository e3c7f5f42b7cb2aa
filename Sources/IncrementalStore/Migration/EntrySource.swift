/// Entries that a migration derives from what the store has, under a number that the former schema does not have.
protocol EntrySource {
  /// The number of the relationship or the constraint.
  var number: UInt32 { get }

  /// Begins to read the entries.
  func reader() -> any EntryReader

  /// Checks the entries, all of which a snapshot has.
  func check(_ snapshot: any RowSnapshot) throws
}

extension EntrySource {
  func check(_ snapshot: any RowSnapshot) {}
}

/// Derives entries from one row or entry of the store after the other, in several snapshots if need be.
protocol EntryReader {
  /// Calls `body` with the entries that follow from the next rows or entries, of which at most `limit` are read.
  ///
  /// - Returns: Whether there are more.
  mutating func read(_ snapshot: any RowSnapshot, limit: Int, _ body: ([UInt8]) throws -> Void) throws -> Bool
}

/// A place among the rows of several tables.
struct RowPlace {
  private var tables: ArraySlice<UInt32>
  /// The next row of the first table; nil for its first row.
  private var next: RowReference?

  init(_ tables: some Sequence<UInt32>) { self.tables = tables.sorted()[...] }

  /// Calls `body` with the next rows, at most `limit`.
  ///
  /// - Returns: Whether there are more.
  mutating func read(
    _ snapshot: any RowSnapshot, limit: Int, _ body: (ObjectReference, StoredRow) throws -> Void
  ) throws -> Bool {
    var left = limit
    while let table = tables.first {
      var rest: RowReference?
      try snapshot.forEachRow(in: table, from: next) { row in
        guard left > 0 else {
          rest = row.reference
          return false
        }
        left -= 1
        try body(ObjectReference(entity: table, reference: row.reference), row)
        return true
      }
      next = rest
      if rest != nil { return true }
      tables.removeFirst()
    }
    return false
  }
}
