/// Changes by a commit of their own. Each method throws the errors of ``Store/write(durability:_:)``.
extension Keyspace {
  /// Inserts or replaces one row.
  ///
  /// - Parameters:
  ///   - value: at most 1 GiB.
  ///   - key: identifies the row; at most 65,536 bytes once encoded.
  ///   - expectation: a condition on the row as it was before; if it does not hold, nothing is changed.
  ///   - durability: how durable the commit is when the call returns.
  /// - Returns: the sequence of the commit, which becomes that of the row.
  @inlinable
  @discardableResult
  public func put(
    _ value: some RowValue, at key: some KeyConvertible, expecting expectation: Expectation = .anything,
    durability: Durability = .durable
  ) throws(StoreError) -> CommitSequence {
    try value.withRowBytes { (value) throws(StoreError) in
      try store.put(value, at: key.key, in: self, expecting: expectation, durability)
    }
  }

  /// Inserts or replaces one row with the bytes of a span.
  @inlinable
  @discardableResult
  public func put(
    _ value: RawSpan, at key: some KeyConvertible, expecting expectation: Expectation = .anything,
    durability: Durability = .durable
  ) throws(StoreError) -> CommitSequence {
    try store.put(value, at: key.key, in: self, expecting: expectation, durability)
  }

  /// Deletes one row; has no effect if there is none.
  @inlinable
  @discardableResult
  public func delete(
    _ key: some KeyConvertible, expecting expectation: Expectation = .anything, durability: Durability = .durable
  ) throws(StoreError) -> CommitSequence {
    try store.delete(key.key, in: self, expecting: expectation, durability)
  }

  /// Deletes the rows that a range has now, in one commit, without reading their values. Rows that others put into the
  /// range meanwhile may stay.
  ///
  /// Takes time and memory in proportion to the number of rows. ``drop(durability:)`` deletes all rows at once.
  ///
  /// - Returns: the number of deleted rows.
  /// - Throws: also `notOrdered`.
  @discardableResult
  public func deleteRows(
    _ range: some KeyRangeConvertible, durability: Durability = .durable
  ) throws -> Int {
    try store.write(durability: durability) { batch in try deleteRows(range, in: &batch) }.result
  }

  /// Reads a row, changes its value and writes it, and begins again if another commit has written the row meanwhile.
  ///
  ///     let count = try counters.update("visits", as: String.self) { value in
  ///       let count = (value.flatMap { Int($0) } ?? 0) + 1
  ///       value = "\(count)"
  ///       return count
  ///     }
  ///
  /// - Parameters:
  ///   - key: identifies the row.
  ///   - type: the type as which the value is read and written.
  ///   - durability: how durable the commit is when the call returns.
  ///   - body: changes the value, which is nil if there is no such row; nil deletes the row. It may be called several
  ///     times. If it throws, nothing is changed.
  /// - Returns: what the last call of `body` returned.
  /// - Throws: also `malformed` if the value is not of the type; what `body` throws.
  public func update<Value: RowValue, Result>(
    _ key: some KeyConvertible, as type: Value.Type, durability: Durability = .durable,
    _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    let key = key.key
    while true {
      let row = try row(key)
      var value = try row.map { try Value(copying: $0.value) }
      let result = try body(&value)
      let expectation = row.map { Expectation.sequence($0.sequence) } ?? .absent
      do throws(StoreError) {
        if let value {
          try put(value, at: key, expecting: expectation, durability: durability)
        } else if row != nil {
          try delete(key, expecting: expectation, durability: durability)
        }
        return result
      } catch {
        guard error.code == .conflict else { throw error }
      }
    }
  }
}

extension Keyspace {
  /// Reads a row, changes its bytes and writes it, as ``update(_:as:durability:_:)`` does.
  public func update<Result>(
    _ key: some KeyConvertible, durability: Durability = .durable, _ body: (inout [UInt8]?) throws -> Result
  ) throws -> Result {
    try update(key, as: [UInt8].self, durability: durability, body)
  }
}

/// Changes as parts of a batch.
extension Keyspace {
  /// Inserts or replaces a row.
  ///
  /// - Parameters:
  ///   - value: at most 1 GiB; compressed by this call, before the batch is committed.
  ///   - key: identifies the row; at most 65,536 bytes once encoded.
  ///   - expectation: a condition on the row as it was before the batch; if it does not hold, the batch is refused.
  ///   - batch: a batch of the same store.
  /// - Throws: `keyTooLong`, `valueTooLarge`, `batchTooLarge`, `invalidArgument`, `foreignKeyspace`, `noMemory`.
  @inlinable
  public func put(
    _ value: some RowValue, at key: some KeyConvertible, expecting expectation: Expectation = .anything,
    in batch: inout Batch
  ) throws(StoreError) {
    try value.withRowBytes { (value) throws(StoreError) in
      try batch.put(value, at: key.key, in: self, expecting: expectation)
    }
  }

  /// Inserts or replaces a row with the bytes of a span.
  @inlinable
  public func put(
    _ value: RawSpan, at key: some KeyConvertible, expecting expectation: Expectation = .anything,
    in batch: inout Batch
  ) throws(StoreError) {
    try batch.put(value, at: key.key, in: self, expecting: expectation)
  }

  /// Inserts or replaces the row at `Key.bytes(key)`, without making an array of the key.
  @inlinable
  public func put(
    _ value: RawSpan, bytes key: RawSpan, expecting expectation: Expectation = .anything, in batch: inout Batch
  ) throws(StoreError) {
    try batch.put(value, bytes: key, in: self, expecting: expectation)
  }

  /// Deletes a row; has no effect if there is none.
  @inlinable
  public func delete(
    _ key: some KeyConvertible, expecting expectation: Expectation = .anything, in batch: inout Batch
  ) throws(StoreError) {
    try batch.delete(key.key, in: self, expecting: expectation)
  }

  /// Deletes the rows that a range has now, without reading their values. Takes time and memory in proportion to their
  /// number.
  ///
  /// - Returns: the number of rows.
  /// - Throws: `notOrdered`, `corrupted`, `batchTooLarge`, `foreignKeyspace`, `noMemory`.
  @discardableResult
  public func deleteRows(_ range: some KeyRangeConvertible, in batch: inout Batch) throws(StoreError) -> Int {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    var count = 0
    try unsafe snapshot.forEachKey(range.keyRange, in: self) { (key) throws(StoreError) in
      try unsafe batch.delete(encoded: key, in: self)
      count += 1
    }
    return count
  }

  /// Makes the batch depend on a row that it does not change.
  @inlinable
  public func check(
    _ key: some KeyConvertible, _ expectation: Expectation, in batch: inout Batch
  ) throws(StoreError) {
    try batch.check(key.key, in: self, expectation)
  }
}
