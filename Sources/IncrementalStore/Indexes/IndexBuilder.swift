import CoreData

/// Builds the declared indexes of a store that are new, removes the entries of those that are no longer declared, and
/// removes what a migration has left behind, in steps that are one save each.
///
/// The schema says how far the work is, so that it goes on after a crash, and so that several processes may do it at
/// once. Between two steps other saves take place, which keep the entries of their own objects up.
struct IndexBuilder {
  /// How many rows are read, and how many entries are removed, in one step.
  private let step: Int
  private let space: DiskSpace

  init(step: Int = 20_000, space: DiskSpace) { (self.step, self.space) = (step, space) }

  /// Does one step. Returns false if there was nothing left to do.
  ///
  /// - Throws: 640 if there is not enough space for a new index. Nothing has changed then.
  func advance(_ rows: any RowStore) throws -> Bool {
    var hasAdvanced = false
    try checkSpace(rows)
    _ = try rows.save { snapshot in
      var changes = RowChanges()
      hasAdvanced = false
      guard let row = try snapshot.row(StoreHead.schemaReference, in: StoreHead.table) else { return changes }
      var schema = try StoreFailure.reading("The schema of the store") { try Schema(row.bytes) }
      guard let place = schema.indexes.firstIndex(where: { $0.state != .ready }) else {
        guard let removal = schema.removals.first else { return changes }
        hasAdvanced = true
        if try !remove(removal, snapshot, &changes) { schema.removals.removeFirst() }
        changes.rows.insert(try StoreHead.change(StoreHead.schemaReference, schema.bytes, snapshot), at: 0)
        return changes
      }
      hasAdvanced = true
      switch schema.indexes[place].state {
      case .ready: break
      case .building where rows.hasIndexesOfItsOwn: schema.indexes[place].state = .ready
      case .building(let next):
        (changes.addedEntries, schema.indexes[place].state) = try build(
          schema.indexes[place], from: next, schema, snapshot.completed(by: schema.completions))
      case .dropping:
        changes.removedEntries = try entries(of: schema.indexes[place].number, snapshot)
        if changes.removals.count < step { schema.indexes.remove(at: place) }
      }
      changes.rows = [try StoreHead.change(StoreHead.schemaReference, schema.bytes, snapshot)]
      return changes
    }
    return hasAdvanced
  }

  private func checkSpace(_ rows: any RowStore) throws {
    let snapshot = try rows.snapshot()
    guard !rows.hasIndexesOfItsOwn, let row = try snapshot.row(StoreHead.schemaReference, in: StoreHead.table) else {
      return
    }
    let schema = try StoreFailure.reading("The schema of the store") { try Schema(row.bytes) }
    guard let index = schema.indexes.first(where: { $0.state != .ready }), index.state == .building(from: nil) else {
      return
    }
    try space.require(try Self.amount(index, schema, snapshot) { _ in }, for: "The new index \(index.number)")
  }

  /// The bytes of the entries that a new index gets.
  ///
  /// - Parameter goOn: Called with the number of rows read so far.
  static func amount(
    _ index: Schema.Index, _ schema: Schema, _ snapshot: any RowSnapshot, _ goOn: (Int) throws -> Void
  ) throws -> Int {
    var rows = RowPlace(schema.family(of: index.entity).map(\.number))
    var (count, bytes) = (0, 0)
    _ = try rows.read(snapshot.completed(by: schema.completions), limit: .max) { object, row in
      count += 1
      try goOn(count)
      bytes += try entry(of: object, row, index)?.count ?? 0
    }
    return bytes
  }

  private static func entry(
    of object: ObjectReference, _ row: StoredRow, _ index: Schema.Index
  ) throws -> [UInt8]? {
    try StoreFailure.reading("The row of \(object)") {
      try index.key(of: row.bytes, normalized: UniqueKey.normalized)
    }.map { Entry.indexed(object, by: $0, index.number) }
  }

  /// The entries of the next objects, in order, and the state of the index with them.
  private func build(
    _ index: Schema.Index, from next: ObjectReference?, _ schema: Schema, _ snapshot: any RowSnapshot
  ) throws -> (entries: [[UInt8]], state: Schema.Index.State) {
    var entries: [[UInt8]] = []
    var rowsRead = 0
    var rest: ObjectReference?
    for table in schema.family(of: index.entity).map(\.number).sorted() {
      guard rest == nil, next.map({ table >= $0.entity }) ?? true else { continue }
      try snapshot.forEachRow(in: table, from: next?.entity == table ? next?.reference : nil) { row in
        let object = ObjectReference(entity: table, reference: row.reference)
        guard rowsRead < step else {
          rest = object
          return false
        }
        rowsRead += 1
        if let entry = try Self.entry(of: object, row, index) { entries.append(entry) }
        return true
      }
    }
    return (entries.sorted { $0.lexicographicallyPrecedes($1) }, rest.map { .building(from: $0) } ?? .ready)
  }

  /// Removes the next rows or entries of what a migration has left behind.
  ///
  /// - Returns: Whether there may be more.
  private func remove(
    _ removal: Schema.Removal, _ snapshot: any RowSnapshot, _ changes: inout RowChanges
  ) throws -> Bool {
    switch removal {
    case .entries(let number):
      changes.removedEntries = try entries(of: number, snapshot)
      return changes.removals.count == step
    case .table(let table):
      try snapshot.forEachRow(in: table, from: nil) { row in
        changes.rows.append(
          RowChanges.Row(table: table, reference: row.reference, change: .delete, revision: row.revision))
        return changes.rows.count < step
      }
      return changes.rows.count == step
    }
  }

  /// The first entries of a relationship, a constraint or an index.
  private func entries(of number: UInt32, _ snapshot: any RowSnapshot) throws -> [[UInt8]] {
    var entries: [[UInt8]] = []
    try snapshot.forEachEntry(beginningWith: Entry.all(of: number)) { entry in
      guard entries.count < step else { return false }
      entries.append(entry)
      return true
    }
    return entries
  }
}

/// Builds indexes on a thread of its own, until it is told to stop.
final class BackgroundBuild: @unchecked Sendable {
  private let lock = NSLock()
  private var isStopped = false
  private let group = DispatchGroup()

  /// - Parameter url: The place of the store.
  init(_ rows: any RowStore, _ url: URL?) {
    DispatchQueue.global(qos: .utility).async(group: group) { [self] in
      do {
        while !lock.withLock({ isStopped }), try IndexBuilder(space: DiskSpace(at: url)).advance(rows) {}
      } catch {
        // Without its index a fetch reads all rows. The next opening of the store tries again.
        let place = url?.absoluteString ?? "a store"
        let line = "CoreData: warning: \(place) was not brought up to date with its model in the background: \(error)\n"
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      }
    }
  }

  /// Returns once the thread does nothing more: at most one step later.
  func stop() {
    lock.withLock { isStopped = true }
    wait()
  }

  /// Returns once the work is done.
  func wait() { group.wait() }
}
