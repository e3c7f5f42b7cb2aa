package import OpenCoreData

extension RowIncrementalStore: HistoryStore {
  var recordsHistory: Bool {
    companion != nil || (options?[NSPersistentHistoryTrackingKey] as? NSNumber)?.boolValue == true
  }

  package var lastTransaction: Position? { lastPosition.map { Position($0) } }

  /// A store gets the head of its history before anybody gets a position, so that a save without history notices that
  /// there is one.
  package func currentPosition() throws -> Position? {
    guard recordsHistory else { return nil }
    try refresh()
    let snapshot = try rows.snapshot()
    if let row = try snapshot.row(StoreHead.historyReference, in: StoreHead.table) {
      return Position(try HistoryHead(row).last)
    }
    guard !isReadOnly else { return nil }
    var last = HistoryPosition.beginning
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      let row = try snapshot.row(StoreHead.historyReference, in: StoreHead.table)
      let head = try HistoryHead(row)
      last = head.last
      if row == nil { changes.rows = [try StoreHead.change(StoreHead.historyReference, head.bytes, snapshot)] }
      return changes
    }
    return Position(last)
  }

  package func forEachTransaction(
    after bound: HistoryBound, withChanges: Bool, _ body: (NSPersistentHistoryTransaction) throws -> Bool
  ) throws {
    try refresh()
    let snapshot = try rows.snapshot()
    // The names of properties are those of the model that the store has now.
    _ = try indexes(in: snapshot)
    var first: UInt64 = 0
    var earliest = -Double.infinity
    switch bound {
    case .beginning: break
    case .date(let date): earliest = date.timeIntervalSinceReferenceDate
    case .position(let position):
      try check(position, snapshot)
      first = UInt64(position.number) + 1
    }
    try snapshot.forEachTransaction(from: first) { number, row in
      let record = try HistoryRecord(row, withChanges: withChanges)
      guard record.origin.time > earliest else { return true }
      return try body(try transaction(number, record, withChanges: withChanges))
    }
  }

  private func transaction(
    _ number: UInt64, _ record: HistoryRecord, withChanges: Bool
  ) throws -> NSPersistentHistoryTransaction {
    let origin = NSPersistentHistoryTransaction.Origin(
      storeID: identifier, position: Position(HistoryPosition(number: number, mark: record.mark)),
      timestamp: Date(timeIntervalSinceReferenceDate: record.origin.time), author: record.origin.author,
      contextName: record.origin.context, bundleID: record.origin.program, processID: record.origin.process)
    guard withChanges else { return NSPersistentHistoryTransaction(origin, nil) }
    let changes = try record.changes.enumerated().compactMap { place, change in
      try self.change(change, number: record.firstChange + UInt64(place), origin)
    }
    return NSPersistentHistoryTransaction(origin, changes)
  }

  /// A change; nil if the model does not have the entity of its object any more.
  private func change(
    _ change: HistoryRecord.Change, number: UInt64, _ origin: NSPersistentHistoryTransaction.Origin
  ) throws -> NSPersistentHistoryChange? {
    guard let map = access.schema[change.object.entity] else { return nil }
    let (changeID, objectID) = (Int64(number), access.objectID(change.object.reference, map))
    switch change.kind {
    case .inserted: return NSPersistentHistoryChange(origin, changeID, objectID, .insert)
    case .updated(let numbers):
      let properties = numbers.compactMap { map.property(numbered: $0) }
      return NSPersistentHistoryChange(origin, changeID, objectID, .update, updatedProperties: Set(properties))
    case .deleted(let fields):
      return NSPersistentHistoryChange(origin, changeID, objectID, .delete, tombstone: try tombstone(fields, map))
    }
  }

  private func tombstone(_ bytes: [UInt8], _ map: EntityMap) throws -> [AnyHashable: Any]? {
    guard !bytes.isEmpty else { return nil }
    var values: [AnyHashable: Any] = [:]
    try StoreFailure.reading("A tombstone of \(map.entity.name ?? "")") {
      for field in map.fields where map.preservedFields.contains(field.number) {
        guard case .attribute(let attribute) = field.kind else { continue }
        let value = try access.value(of: field, in: bytes).anyValue(of: attribute.attributeType)
        if let value { values[field.name] = value }
      }
    }
    return values.isEmpty ? nil : values
  }

  // MARK: Positions

  /// Throws if somebody who has read the history up to a position has missed changes.
  private func check(_ position: Position, _ snapshot: any RowSnapshot) throws {
    let head = try HistoryHead(snapshot.row(StoreHead.historyReference, in: StoreHead.table))
    let number = UInt64(clamping: position.number)
    let known = HistoryPosition(number: number, mark: position.mark)
    let problem: String
    if number > head.last.number {
      problem = "the store has been put back to an earlier state, or replaced, since"
    } else if number < head.expired.number {
      problem = "transactions after it have been deleted, or objects have been saved without history since"
    } else if known == head.expired || known == head.last {
      return
    } else if let row = try snapshot.row(.integer(Int64(clamping: number)), in: HistoryRecord.table),
      try HistoryRecord(row, withChanges: false).mark == position.mark
    {
      return
    } else {
      problem = "the store has been put back to an earlier state, or replaced, since"
    }
    throw CoreDataError.make(
      NSPersistentHistoryTokenExpiredError,
      "The history token for transaction \(position.number) of the store \(identifier ?? "?") has expired: \(problem).")
  }

  // MARK: Deleting

  package func deleteTransactions(
    before bound: HistoryBound, where isDeleted: (NSPersistentHistoryTransaction) throws -> Bool
  ) throws -> Int {
    var (end, latest) = (UInt64.max, Double.infinity)
    switch bound {
    case .beginning: return 0
    case .date(let date): latest = date.timeIntervalSinceReferenceDate
    case .position(let position):
      try check(position, rows.snapshot())
      end = UInt64(position.number)
    }
    var deletion = HistoryDeletion(rows)
    while deletion.next != nil {
      try deletion.advance(before: end, latest) { number, record in
        try isDeleted(transaction(number, record, withChanges: false))
      }
    }
    return deletion.count
  }

  /// Begins to delete old transactions in the background, now and after every 64th transaction, if the options of the
  /// store limit its history.
  func beginHistoryUpkeep() {
    let age = (options?[HistoryMaximumAgeOption] as? NSNumber)?.doubleValue
    let count = (options?[HistoryMaximumCountOption] as? NSNumber)?.uint64Value
    guard age != nil || count != nil, recordsHistory, let rowStore else { return }
    upkeep = HistoryUpkeep(
      rowStore, age: age ?? .infinity, count: count ?? .max, url?.absoluteString ?? "a store")
    upkeep?.begin()
  }

  /// Notes the transaction of the last save or batch request.
  func note(_ position: HistoryPosition?) {
    lastPosition = position
    if let position, position.number.isMultiple(of: 64) { upkeep?.begin() }
  }
}

extension NSPersistentHistoryToken.Position {
  fileprivate init(_ position: HistoryPosition) {
    self.init(number: Int64(clamping: position.number), mark: position.mark)
  }
}
