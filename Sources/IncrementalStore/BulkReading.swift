extension RowSnapshot {
  /// Runs a computation that reads rows and entries one by one. If each read waits for another process or machine, the
  /// computation is run several times instead: what it asks for and is not known yet is read in bulk, and until then
  /// does not exist. Only the last run, which knows all that it asks for, counts.
  ///
  /// - Parameters:
  ///   - first: The rows that the computation asks for in any case, so that they are known in the first run.
  ///   - known: Rows that need not be read, and nil for those that do not exist.
  ///   - body: Has no effects that a later run does not replace.
  /// - Complexity: One run for each row or entry of which the place follows from another one, one after the other.
  func readingInBulk<R>(
    _ first: @autoclosure () throws -> [ObjectReference] = [], knowing known: [ObjectReference: StoredRow?] = [:],
    _ body: (any RowSnapshot) throws -> R
  ) throws -> R {
    guard isRemote else { return try body(self) }
    let bulk = BulkSnapshot(self, knowing: known)
    for object in try first() { _ = try bulk.row(object.reference, in: object.entity) }
    _ = try bulk.readWanted()
    while true {
      let result = Result { try body(bulk) }
      if try !bulk.readWanted() { return try result.get() }
    }
  }
}

/// A snapshot that answers from what has been read in bulk, and notes what else is wanted.
final class BulkSnapshot: RowSnapshot {
  /// The first entries with a prefix.
  private struct Entries {
    let first: [[UInt8]]
    let areAll: Bool
  }

  /// How many entries of a prefix are read in bulk. More than that are read when they are asked for.
  private static let limit = 64

  /// Whether what is not known is only noted, and does not exist until it is read in bulk. Otherwise it is read at once.
  var isNoting = true

  private let snapshot: any RowSnapshot
  private var rows: [ObjectReference: StoredRow?]
  private var entries: [[UInt8]: Entries] = [:]
  private var wantedRows: Set<ObjectReference> = []
  private var wantedPrefixes: Set<[UInt8]> = []

  init(_ snapshot: any RowSnapshot, knowing rows: [ObjectReference: StoredRow?] = [:]) {
    (self.snapshot, self.rows) = (snapshot, rows)
  }

  let isRemote = true

  /// Reads what was wanted and is not known. Returns false if that is nothing.
  func readWanted() throws -> Bool {
    if wantedRows.isEmpty, wantedPrefixes.isEmpty { return false }
    let references = Dictionary(grouping: wantedRows, by: \.entity).mapValues { $0.map(\.reference) }
    let prefixes = Array(wantedPrefixes)
    let found = try snapshot.rows(references, entriesBeginningWith: prefixes, limit: Self.limit)
    for (table, references) in references {
      for (reference, row) in zip(references, found.rows[table] ?? []) {
        rows[ObjectReference(entity: table, reference: reference)] = .some(row)
      }
    }
    for (prefix, found) in zip(prefixes, found.entries) {
      entries[prefix] = Entries(first: found, areAll: found.count < Self.limit)
    }
    (wantedRows, wantedPrefixes) = ([], [])
    return true
  }

  /// Forgets what has been read, so that it takes no memory.
  func forget() { (rows, entries) = ([:], [:]) }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    let object = ObjectReference(entity: table, reference: reference)
    if let row = rows[object] { return row }
    guard isNoting else { return try snapshot.row(reference, in: table) }
    wantedRows.insert(object)
    return nil
  }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    guard upper == Entry.successor(of: lower) else {
      return try snapshot.forEachEntry(from: lower, before: upper, reverse: reverse, body)
    }
    if entries[lower] == nil, isNoting {
      wantedPrefixes.insert(lower)
      return
    }
    guard let known = entries[lower], known.areAll else {
      return try snapshot.forEachEntry(from: lower, before: upper, reverse: reverse, body)
    }
    for place in known.first.indices {
      guard try body(known.first[reverse ? known.first.count - 1 - place : place]) else { return }
    }
  }

  func forEachRow(in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool) throws {
    try snapshot.forEachRow(in: table, from: first, body)
  }

  func count(in table: UInt32) throws -> Int { try snapshot.count(in: table) }
}

extension RowSnapshot {
  /// Calls `body` with the rows of objects in their order, as far as they exist, until it returns false.
  ///
  /// - Parameters:
  ///   - objects: Each with a number that is passed on.
  ///   - needed: How many rows `body` takes at least, as far as they exist.
  func forEachRow(
    of objects: ArraySlice<(object: ObjectReference, place: Int)>, needed: Int,
    _ body: (_ row: StoredRow, _ place: Int) throws -> Bool
  ) throws {
    guard isRemote else { return try forEachRowInTurn(of: objects, needed: needed, body) }
    var count = max(64, min(needed, 4096))
    var rest = objects
    while !rest.isEmpty {
      let next = rest.prefix(count)
      var rows: [ObjectReference: StoredRow] = [:]
      for (table, objects) in Dictionary(grouping: next.map(\.object), by: \.entity) {
        for (object, row) in zip(objects, try self.rows(objects.map(\.reference), in: table)) { rows[object] = row }
      }
      for (object, place) in next {
        guard let row = rows[object] else { continue }
        guard try body(row, place) else { return }
      }
      rest = rest.dropFirst(next.count)
      count = min(4096, 4 * count)
    }
  }

  /// As ``forEachRow(of:needed:_:)``, with a few rows of one table read at a time: those of a local database are found
  /// faster together.
  private func forEachRowInTurn(
    of objects: ArraySlice<(object: ObjectReference, place: Int)>, needed: Int,
    _ body: (_ row: StoredRow, _ place: Int) throws -> Bool
  ) throws {
    // Fetches that want only the first rows shall not read many others.
    var needed = needed
    var count = max(1, min(needed, 16))
    var rest = objects
    while let first = rest.first {
      let next = rest.prefix(count).prefix { $0.object.entity == first.object.entity }
      let rows =
        next.count == 1
        ? [try row(first.object.reference, in: first.object.entity)]
        : try rows(next.map(\.object.reference), in: first.object.entity)
      for (row, (_, place)) in zip(rows, next) {
        guard let row else { continue }
        guard try body(row, place) else { return }
      }
      rest = rest.dropFirst(next.count)
      needed -= next.count
      count = needed > 0 ? min(needed, 16) : min(16, 4 * count)
    }
  }
}
