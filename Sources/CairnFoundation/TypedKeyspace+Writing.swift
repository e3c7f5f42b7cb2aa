public import Cairn

/// Changes by a commit of their own. If another commit changes the same row meanwhile, they begin again.
extension TypedKeyspace {
  /// Inserts or replaces a value.
  ///
  /// - Throws: ``UniquenessViolation``; `conflict` if the expectation does not hold; errors of the coding and of
  ///   `Store`.
  @discardableResult
  public func put(
    _ value: Value, at id: ID, expecting expectation: Expectation = .anything, durability: Durability = .durable
  ) throws -> CommitSequence {
    try commit(durability) { batch in try put(value, at: id, expecting: expectation, in: &batch) }
  }

  /// Deletes a value; has no effect if there is none.
  ///
  /// - Throws: as ``put(_:at:expecting:durability:)``.
  @discardableResult
  public func delete(
    _ id: ID, expecting expectation: Expectation = .anything, durability: Durability = .durable
  ) throws -> CommitSequence {
    try commit(durability) { batch in try delete(id, expecting: expectation, in: &batch) }
  }

  /// Reads a value, changes it and writes it.
  ///
  ///     try jobs.update(id) { $0?.attempts += 1 }
  ///
  /// - Parameters:
  ///   - id: identifies the value.
  ///   - durability: how durable the commit is when the call returns.
  ///   - body: changes the value, which is nil if there is none; nil deletes it. It may be called several times. If it
  ///     throws, nothing is changed.
  /// - Returns: what the last call of `body` returned.
  /// - Throws: as ``put(_:at:expecting:durability:)``; what `body` throws.
  public func update<Result>(
    _ id: ID, durability: Durability = .durable, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    while true {
      do {
        return try keyspace.store.write(durability: durability) { batch in
          try update(id, in: &batch, body)
        }.result
      } catch let error as StoreError where error.code == .conflict {
        continue
      }
    }
  }

  /// Deletes the values whose keys in an index of times are before a time, in commits of 1,000. A value that is changed
  /// meanwhile and has a later time by then stays.
  ///
  /// - Parameters:
  ///   - index: an index whose keys are dates, or tuples that begin with a date.
  ///   - time: values from this time on stay.
  ///   - durability: how durable the commits are.
  /// - Returns: the number of deleted values.
  @discardableResult
  public func deleteExpired(
    _ index: ValueIndex<Value>, before time: some KeyConvertible, durability: Durability = .durable
  ) throws -> Int {
    let entries = KeyRange.before(time.key.columns)
    let stored = stored(index)
    var count = 0
    while true {
      let rows = try stored.keyspace.rows(entries, limit: 1000).map(stored.row)
      guard !rows.isEmpty else { return count }
      do {
        count += try keyspace.store.write(durability: durability) { batch in
          try rows.count { row in
            try change(row, .anything, in: &batch) { value in
              // It may have been changed since the entry was read.
              guard let present = value,
                stored.index.keys(present).contains(where: { entries.contains(stored.entry($0, of: row)) })
              else { return false }
              value = nil
              return true
            }
          }
        }.result
      } catch let error as StoreError where error.code == .conflict {
        continue
      }
    }
  }

  /// Commits again as long as other commits come in between.
  private func commit(
    _ durability: Durability, _ body: (inout Batch) throws -> Void
  ) throws -> CommitSequence {
    while true {
      do {
        return try keyspace.store.write(durability: durability) { (batch) throws -> Void in
          do {
            try body(&batch)
          } catch let error as StoreError where error.code == .conflict {
            // Read in this attempt, so it would be the same in the next one.
            throw UnmetExpectation(error: error)
          }
        }
      } catch let error as StoreError where error.code == .conflict {
        continue
      } catch let unmet as UnmetExpectation {
        throw unmet.error
      }
    }
  }
}

private struct UnmetExpectation: Error {
  let error: StoreError
}

/// Changes as parts of a batch. The batch is refused with `conflict` if another commit changes one of the rows before the
/// batch is committed, whatever is expected.
extension TypedKeyspace {
  /// Inserts or replaces a value.
  ///
  /// - Throws: ``UniquenessViolation``; `conflict` if the expectation does not hold now; errors of the coding and of
  ///   the batch.
  public func put(
    _ value: Value, at id: ID, expecting expectation: Expectation = .anything, in batch: inout Batch
  ) throws {
    try change(id.key, expectation, in: &batch) { $0 = value }
  }

  /// Deletes a value; has no effect if there is none.
  public func delete(_ id: ID, expecting expectation: Expectation = .anything, in batch: inout Batch) throws {
    try change(id.key, expectation, in: &batch) { $0 = nil }
  }

  /// Reads a value, as the batch has left it if it has changed it before, changes it and writes it.
  public func update<Result>(
    _ id: ID, in batch: inout Batch, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try change(id.key, .anything, in: &batch, body)
  }

  fileprivate func change<Result>(
    _ key: Key, _ expectation: Expectation, in batch: inout Batch, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    let row = try keyspace.row(key)
    guard expectation.holds(row?.sequence) else {
      throw StoreError(
        .conflict, "a row of \(keyspace.name) is not as expected",
        conflicts: [
          StoreError.Conflict(keyspace: keyspace.name, key: key, expected: expectation, found: row?.sequence)
        ])
    }
    let old = try (batch.noted[keyspace]?[key] ?? row?.value).map { try decode($0, key) }
    var new = old
    let result = try body(&new)
    let bytes = try new.map(coding.encode)
    let exact = row.map { Expectation.sequence($0.sequence) } ?? .absent
    let changes = indexes.map { index in
      (index, Set(old.map(index.index.keys) ?? []), Set(new.map(index.index.keys) ?? []))
    }
    // A violation leaves the batch as it was, so that its closure may go on.
    for (index, before, after) in changes {
      for added in after.subtracting(before) { try index.check(added, of: key, in: batch) }
    }
    do {
      for (index, before, after) in changes {
        for gone in before.subtracting(after) { try index.remove(gone, of: key, in: &batch) }
        for added in after.subtracting(before) { try index.add(added, of: key, in: &batch) }
      }
      if let bytes {
        try keyspace.put(bytes, at: key, expecting: exact, in: &batch)
      } else {
        try keyspace.delete(key, expecting: exact, in: &batch)
      }
    } catch {
      // The batch has a part of the change.
      batch.failure = error
      throw error
    }
    batch.noted[keyspace, default: [:]][key] = .some(bytes)
    return result
  }
}
