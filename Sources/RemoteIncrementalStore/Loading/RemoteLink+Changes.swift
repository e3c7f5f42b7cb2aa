import IncrementalStore
import RowFormat

extension RemoteLink {
  /// Runs work on the store's threads, and returns when it is done.
  func run(_ work: @escaping @Sendable (RemoteLink) async throws -> Void) async throws {
    let answer = Answer()
    begin { link in
      do {
        try await work(link)
        answer.give(.success(()))
      } catch {
        answer.give(.failure(error))
      }
    } orElse: {
      answer.give(.failure(StoreIsGone()))
    }
    try await answer.value()
  }

  func take(_ records: [RemoteRecord], deleted: [RemoteIdentifier]) async throws {
    let contradictions = try edit { rows in
      for record in records { try take(record, isWhole: false, &rows) }
      for identifier in deleted { try rows.remove(identifier) }
    }
    await settle(contradictions)
  }

  /// Reads what has changed at the service, and writes each part with where to go on as one batch.
  func readChanges() async throws {
    while true {
      let cursor = try read { try $0.head()?.cursor }
      let request = order.begin()
      defer { order.end(request) }
      let changes = try await ask { try await service.changes(since: cursor) }
      var stale: [RemoteReference] = []
      let contradictions = try edit(answerTo: request) { rows in
        for record in changes.records { try take(record, isWhole: false, &rows) }
        for identifier in changes.deleted { try rows.remove(identifier) }
        if changes.hasGap { try rows.expireLists() }
        stale = rows.stale
        if stale.isEmpty { try note(changes.cursor, &rows) }
      }
      await settle(contradictions)
      if !stale.isEmpty {
        // If that fails these changes are read again.
        try await loadListed(stale)
        try edit(recordsHistory: false) { rows in try note(changes.cursor, &rows) }
      }
      if changes.hasGap { lists.expire() }
      if changes.isLast { return }
      try Task.checkCancellation()
    }
  }

  /// Notes up to where the changes have been read.
  private func note(_ cursor: String, _ rows: inout RecordRows) throws {
    var head = try rows.rows.head() ?? RemoteHead(account: account)
    head.cursor = cursor
    rows.add { $0.put(head.bytes, at: StoreHead.remoteReference, in: StoreHead.table) }
  }
}

extension RecordRows {
  /// Lets all lists count as too old, also for a later process.
  fileprivate mutating func expireLists() throws {
    for (reference, result) in try rows.results() where result.readAt > 0 {
      var result = result
      // A list that was read as far as it was needed is told by its time from one whose reading was interrupted.
      result.readAt = result.isComplete ? 0 : 1
      let bytes = result.bytes
      add { $0.put(bytes, at: reference, in: ResultRow.table) }
    }
  }
}
