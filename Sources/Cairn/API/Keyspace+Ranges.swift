/// Rows in the order of their keys. Each method reads the latest state, or a snapshot of the same store. An unordered
/// keyspace has only the range ``KeyRange/all``, whose rows come in no particular order.
extension Keyspace {
  /// Copies of the rows of a range, all in memory at once. For more rows than fit, use ``cursor(_:reverse:at:)`` or
  /// ``scan(_:reverse:limit:at:_:)``.
  ///
  /// - Parameters:
  ///   - range: the keys to visit.
  ///   - reverse: whether to go from the last key to the first.
  ///   - limit: the largest number of rows to return.
  ///   - snapshot: nil for the latest state.
  /// - Throws: `notOrdered`, `corrupted`; for a snapshot also `closed` and `foreignKeyspace`. So do all methods here.
  public func rows(
    _ range: some KeyRangeConvertible = KeyRange.all, reverse: Bool = false, limit: Int = .max,
    at snapshot: Snapshot? = nil
  ) throws(StoreError) -> [Row] {
    try reading(snapshot) { (snapshot) throws(StoreError) in
      try snapshot.rows(range.keyRange, in: self, reverse: reverse, limit: limit)
    }
  }

  /// The first row of a range; nil if there is none. Touches only that row.
  public func first(
    _ range: some KeyRangeConvertible = KeyRange.all, at snapshot: Snapshot? = nil
  ) throws(StoreError) -> Row? {
    try rows(range, limit: 1, at: snapshot).first
  }

  /// The last row of a range; nil if there is none. Touches only that row.
  public func last(
    _ range: some KeyRangeConvertible = KeyRange.all, at snapshot: Snapshot? = nil
  ) throws(StoreError) -> Row? {
    try rows(range, reverse: true, limit: 1, at: snapshot).first
  }

  /// Number of rows. Takes constant time if nothing is committed meanwhile and, in a snapshot, nothing has been committed
  /// since it was taken; otherwise time in proportion to the number of rows.
  public func count(at snapshot: Snapshot? = nil) throws(StoreError) -> Int {
    try reading(snapshot) { (snapshot) throws(StoreError) in try snapshot.count(in: self) }
  }

  /// Number of rows in a range. Takes time in proportion to that number.
  public func count(
    _ range: some KeyRangeConvertible, at snapshot: Snapshot? = nil
  ) throws(StoreError) -> Int {
    try reading(snapshot) { (snapshot) throws(StoreError) in try snapshot.count(range.keyRange, in: self) }
  }

  /// Calls `body` with the rows of a range, in place, until it returns `.stop` or `limit` rows have been seen.
  ///
  /// - Parameters:
  ///   - range: the keys to visit.
  ///   - reverse: whether to go from the last key to the first.
  ///   - limit: the largest number of rows to visit.
  ///   - snapshot: nil for the latest state.
  ///   - body: gets the encoded key, which ``Key/init(encoded:)-(RawSpan)`` decodes, and the value, both valid until it
  ///     returns. It may read and write the store.
  /// - Throws: what `body` throws as well.
  public func scan(
    _ range: some KeyRangeConvertible = KeyRange.all, reverse: Bool = false, limit: Int = .max,
    at snapshot: Snapshot? = nil, _ body: (_ key: RawSpan, _ value: RawSpan, _ stamp: RowStamp) throws -> ScanStep
  ) throws {
    if let snapshot { return try snapshot.scan(range.keyRange, in: self, reverse: reverse, limit: limit, body) }
    try store.read { try $0.scan(range.keyRange, in: self, reverse: reverse, limit: limit, body) }
  }

  /// A cursor over the rows of a range, which reads a few rows at a time.
  public func cursor(
    _ range: some KeyRangeConvertible = KeyRange.all, reverse: Bool = false, at snapshot: Snapshot? = nil
  ) -> RowCursor {
    RowCursor(self, range.keyRange, reverse: reverse, snapshot ?? store.snapshot())
  }
}
