import CoreData

/// Deletes transactions of the history, a limited number in each save.
struct HistoryDeletion {
  /// How many transactions are looked at in one save.
  private static let step = 10_000

  let rows: any RowStore

  /// The number of the next transaction to look at; nil once all are done.
  private(set) var next: UInt64? = 0
  /// How many transactions have been deleted.
  private(set) var count = 0

  init(_ rows: any RowStore) { self.rows = rows }

  /// Deletes some of the transactions before the one with the number `end` that were saved before `latest`, in seconds
  /// since the beginning of 2001, and that `isDeleted` selects.
  mutating func advance(
    before end: UInt64, _ latest: Double, where isDeleted: (UInt64, HistoryRecord) throws -> Bool = { _, _ in true }
  ) throws {
    guard let first = next else { return }
    var (rest, deleted) = (nil as UInt64?, 0)
    _ = try rows.save { snapshot in
      (rest, deleted) = (nil, 0)
      var changes = RowChanges()
      let row = try snapshot.row(StoreHead.historyReference, in: StoreHead.table)
      var head = try HistoryHead(row)
      var seen = 0
      try snapshot.forEachTransaction(from: first) { number, row in
        guard number < end else { return false }
        guard seen < Self.step else {
          rest = number
          return false
        }
        seen += 1
        let record = try HistoryRecord(row, withChanges: false)
        guard record.origin.time < latest, try isDeleted(number, record) else { return true }
        head.expire(HistoryPosition(number: number, mark: record.mark))
        changes.rows.append(
          RowChanges.Row(
            table: HistoryRecord.table, reference: row.reference, change: .delete, revision: row.revision))
        return true
      }
      deleted = changes.rows.count
      guard deleted > 0 else { return changes }
      changes.rows.insert(
        RowChanges.Row(
          table: StoreHead.table, reference: StoreHead.historyReference, change: .put(head.bytes),
          revision: row?.revision), at: 0)
      return changes
    }
    next = rest
    count += deleted
  }
}

/// Deletes old transactions of a store's history in the background.
final class HistoryUpkeep: @unchecked Sendable {
  private let rows: any RowStore
  private let age: Double
  private let count: UInt64
  private let place: String
  private let lock = NSLock()
  private var isStopped = false
  private var isRunning = false
  private let group = DispatchGroup()

  /// - Parameters:
  ///   - age: For how many seconds transactions are kept.
  ///   - count: How many of the last transactions are kept.
  ///   - place: The store, for messages.
  init(_ rows: any RowStore, age: Double, count: UInt64, _ place: String) {
    (self.rows, self.age, self.count, self.place) = (rows, age, count, place)
  }

  /// Deletes old transactions on another thread, unless that is being done.
  func begin() {
    let begins = lock.withLock {
      defer { isRunning = true }
      return !isRunning && !isStopped
    }
    guard begins else { return }
    DispatchQueue.global(qos: .utility).async(group: group) { [self] in
      defer { lock.withLock { isRunning = false } }
      do {
        let row = try rows.snapshot().row(StoreHead.historyReference, in: StoreHead.table)
        let last = try HistoryHead(row).last.number
        var deletion = HistoryDeletion(rows)
        while !lock.withLock({ isStopped }), deletion.next != nil {
          if count < last { try deletion.advance(before: last - count + 1, .infinity) } else { break }
        }
        deletion = HistoryDeletion(rows)
        let latest = Date().timeIntervalSinceReferenceDate - age
        while !lock.withLock({ isStopped }), deletion.next != nil, age < .infinity {
          try deletion.advance(before: .max, latest)
        }
      } catch {
        // The next saves try again.
        let line = "CoreData: warning: old history of \(place) was not deleted: \(error)\n"
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      }
    }
  }

  /// Returns once the thread does nothing more: at most one save later.
  func stop() {
    lock.withLock { isStopped = true }
    wait()
  }

  /// Returns once the work that has begun is done.
  func wait() { group.wait() }
}

extension RowSnapshot {
  /// Calls `body` with the rows of transactions in the order of their numbers, until it returns false.
  func forEachTransaction(from first: UInt64, _ body: (UInt64, StoredRow) throws -> Bool) throws {
    try forEachRow(in: HistoryRecord.table, from: .integer(Int64(clamping: first))) { row in
      guard case .integer(let signed) = row.reference, let number = UInt64(exactly: signed) else {
        throw StoreFailure.damaged("The history", RowDamage("a transaction has the number \(row.reference)", at: 0))
      }
      return try body(number, row)
    }
  }
}

extension HistoryRecord {
  init(_ row: StoredRow, withChanges: Bool) throws {
    self = try StoreFailure.reading("Transaction \(row.reference) of the history") {
      try HistoryRecord(row.bytes, withChanges: withChanges)
    }
  }
}

extension HistoryHead {
  /// Reads the head from its row; that of an empty history if there is none.
  init(_ row: StoredRow?) throws {
    self =
      try row.map { row in
        try StoreFailure.reading("The head of the history") { try HistoryHead(row.bytes) }
      } ?? HistoryHead()
  }
}
