import Cairn
import CoreData
import IncrementalStore

/// The row store on Cairn's engine: a keyspace for each table, and one for the packs of all entries. STORE-FORMAT.md,
/// sections 1 and 7.
final class CairnRowStore: RefreshableRowStore {
  let engine: Engine
  private let url: URL
  private let durability: Durability

  var referenceKind: RowReferenceKind { .integer }

  /// Opens the store at `url`, and creates it if there is nothing and the options allow it. Accesses files only through
  /// the environment of the options.
  init(at url: URL, _ options: CairnOptions) throws {
    self.url = url
    durability = options.durability
    engine = try CairnFailure.translating(url) { () throws(StoreError) in try Engine.open(at: url.path, options) }
    do {
      let head = try CairnFailure.translating(url) { () throws(StoreError) in try engine.table(0) }
      guard head != nil || engine.store.keyspaces.isEmpty else {
        throw StoreFailure.make(
          NSPersistentStoreOpenError, "The store at \(url.path) is a Cairn store, but not a Core Data store.")
      }
    } catch {
      try? engine.leave()
      throw error
    }
  }

  /// Opens the store at `url` with the options that the Core Data store was added with. Unless these are read-only,
  /// creates the store if there is nothing, or an empty file, at `url`.
  static func open(at url: URL, _ options: [AnyHashable: Any]?) throws -> CairnRowStore {
    let options = try CairnOptions(options)
    if !options.isReadOnly { try CairnFiles.removeEmptyFile(at: url) }
    return try CairnRowStore(at: url, options)
  }

  func snapshot() -> any RowSnapshot { CairnRowSnapshot(engine, url) }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    let found = try CairnFailure.translating(url) { () throws(StoreError) -> (row: StoredRow?, isWhole: Bool) in
      guard let table = try engine.table(table) else { return (nil, true) }
      guard table.touches.isBlank else { return (nil, false) }
      let row = try engine.store.stampedValue(of: Key(reference), in: table.rows).map { StoredRow(reference, $0) }
      // If there are no touches yet, there were none when the row was read.
      return (row, table.touches.isBlank)
    }
    // Touches have to be read in the same state as the row.
    return found.isWhole ? found.row : try snapshot().row(reference, in: table)
  }

  func refresh() throws -> UInt64 {
    try CairnFailure.translating(url) { () throws(StoreError) in try engine.store.refresh().rawValue }
  }

  func close() throws { try CairnFailure.translating(url) { () throws(StoreError) in try engine.leave() } }

  // MARK: Saving

  /// How often a save is attempted if a program keeps changing its rows directly through the engine.
  private static let attempts = 8

  func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    try CairnFailure.translatingAny(url) {
      let sequence = try engine.turn.withLock { try saveInTurn(changes) }
      // After the turn, so that several coordinators share a sync.
      if durability == .durable, sequence != nil { try engine.store.sync() }
      return sequence?.rawValue ?? 0
    }
  }

  /// Saves while the caller holds `engine.turn`. Returns the sequence of the commit; nil if there was nothing to change.
  private func saveInTurn(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> CommitSequence? {
    // If the sync of a save failed, its changes are in the snapshot, and a second attempt would mistake them for a
    // conflict.
    try engine.store.checkHealth()
    for attempt in 1... {
      let snapshot = CairnRowSnapshot(engine, url)
      defer { snapshot.close() }
      let changes = try changes(snapshot)
      guard !changes.isEmpty else { return nil }
      do {
        return try write(changes, snapshot, expectsNothingElse: attempt == 1)
      } catch let error as StoreError where error.code == .conflict && attempt < Self.attempts {
        continue
      }
    }
    return nil
  }

  /// - Parameter expectsNothingElse: Whether the batch fails if anything has been committed since the snapshot, so that
  ///   the rows need not be compared one by one.
  private func write(
    _ changes: RowChanges, _ snapshot: CairnRowSnapshot, expectsNothingElse: Bool
  ) throws -> CommitSequence {
    let parts = try parts(of: changes.rows)
    let hasEntries = !changes.additions.isEmpty || !changes.removals.isEmpty
    let packs = hasEntries ? try engine.makePacks() : nil
    return try engine.store.write(durability: .buffered) { batch in
      // Closed before the commit, which follows this block and would otherwise have to keep each row that it replaces
      // for the snapshot.
      defer { snapshot.close() }
      if expectsNothingElse { batch.expectNothing(since: snapshot.snapshot) }
      for (table, places) in parts {
        for place in places {
          let expected =
            expectsNothingElse ? ExpectedRow() : try ExpectedRow(changes.rows[place], of: table, snapshot.snapshot)
          try Self.write(changes.rows[place], to: table, expected, &batch)
        }
      }
      guard let packs else { return }
      try PackEditor(snapshot.snapshot, packs).apply(
        removed: changes.removals, added: changes.additions, to: &batch)
    }
  }

  /// The tables of rows, created if they do not exist, with the places of their rows.
  private func parts(of rows: [RowChanges.Row]) throws -> [(table: Engine.Table, places: Range<Int>)] {
    var starts = rows.indices.filter { $0 == 0 || rows[$0].table != rows[$0 - 1].table }
    starts.append(rows.count)
    return try zip(starts, starts.dropFirst()).map { (try engine.makeTable(rows[$0].table), $0..<$1) }
  }

  private static func write(
    _ row: RowChanges.Row, to table: Engine.Table, _ expected: ExpectedRow, _ batch: inout Batch
  ) throws(StoreError) {
    let key = Key(row.reference)
    guard row.revision != nil else {
      guard case .put(let bytes) = row.change else { return }
      return try table.rows.put(bytes, at: key, expecting: expected.row, in: &batch)
    }
    switch row.change {
    case .put(let bytes):
      try table.rows.put(bytes, at: key, expecting: expected.row, in: &batch)
      if expected.touches != .anything { try table.touches.check(key, expected.touches, in: &batch) }
    case .touch:
      if expected.row != .anything { try table.rows.check(key, expected.row, in: &batch) }
      try table.touches.put([], at: key, expecting: expected.touches, in: &batch)
    case .delete:
      try table.rows.delete(key, expecting: expected.row, in: &batch)
      try table.touches.delete(key, expecting: expected.touches, in: &batch)
    }
  }

  // MARK: References

  func reserveReferences(_ count: Int) throws -> [RowReference] {
    try CairnFailure.translatingAny(url) {
      try engine.turn.withLock { try ReferenceBlock.take(count, engine).map { .integer($0) } }
    }
  }
}

/// What a batch expects of a row and of its touches.
private struct ExpectedRow {
  private(set) var row = Expectation.anything
  private(set) var touches = Expectation.anything

  init() {}

  /// That neither the row nor its touches have changed since a snapshot.
  init(_ change: RowChanges.Row, of table: Engine.Table, _ snapshot: Snapshot) throws(StoreError) {
    guard let revision = change.revision else {
      row = .absent
      return
    }
    let key = Key(change.reference)
    let stamp = try table.touches.stamp(of: key, at: snapshot)
    touches = stamp.map { .sequence($0.sequence) } ?? .absent
    // The revision is that of the row or that of its last touch.
    let sequence =
      stamp == nil ? CommitSequence(rawValue: revision) : try table.rows.stamp(of: key, at: snapshot)?.sequence
    row = sequence.map { .sequence($0) } ?? .absent
  }
}

extension Key {
  /// Converts a reference of a row.
  init(_ reference: RowReference) {
    self =
      switch reference {
      case .integer(let number): .integer(number)
      case .string(let text): .string(text)
      case .uuid(let uuid): .uuid(uuid)
      }
  }
}
