/// Walks over the rows of a range, of one moment.
///
///     var cursor = planets.cursor("a"..<"m")
///     while let row = try cursor.next() { print(row.key) }
///
/// A cursor holds a ``Snapshot`` until it is no longer used, and copies of some of the next rows: at most 256, and at
/// most one more than have 64 KiB of values. It holds nothing else between two calls: compaction only keeps what the
/// snapshot sees, however slowly the cursor is used. Ending the snapshot ends the cursor with `closed`.
public struct RowCursor: Sendable {
  private let keyspace: Keyspace
  private let snapshot: Snapshot
  private let isReversed: Bool
  /// The keys that have not been read; nil if there are none.
  private var rest: KeyRange?
  /// Rows that have been read, the next one last.
  private var rows: [Row] = []
  private var pageSize = 16

  private static let mostRows = 256
  private static let mostBytes = 64 << 10

  init(_ keyspace: Keyspace, _ range: KeyRange, reverse: Bool, _ snapshot: Snapshot) {
    self.keyspace = keyspace
    self.snapshot = snapshot
    isReversed = reverse
    rest = range
  }

  /// The next row; nil behind the last one.
  ///
  /// - Throws: `notOrdered` for an unordered keyspace; `corrupted`, `closed`. The cursor stays where it was.
  public mutating func next() throws(StoreError) -> Row? {
    if rows.isEmpty, let range = rest { try read(range) }
    return rows.popLast()
  }

  private mutating func read(_ range: KeyRange) throws(StoreError) {
    guard keyspace.order == .ordered else {
      throw StoreError(.notOrdered, "keyspace \(keyspace.name) is not ordered, so it cannot be read with a cursor")
    }
    let page = try snapshot.rows(
      range, in: keyspace, reverse: isReversed, limit: pageSize, bytes: Self.mostBytes)
    rest = page.last.map { last in isReversed ? range.before(last.key) : range.after(last.key) }
    rows = page.reversed()
    pageSize = min(2 * pageSize, Self.mostRows)
  }
}
