import CoreData

/// A row as the row cache keeps it, under the identifier of its object.
struct CachedRow {
  var bytes: [UInt8]
  /// The version and the revision of the stored row.
  var version: UInt64
  var revision: UInt64

  func stored(as reference: RowReference) -> StoredRow {
    StoredRow(reference: reference, bytes: bytes, version: version, revision: revision)
  }
}

extension CachedRow {
  init(_ row: StoredRow) { self.init(bytes: row.bytes, version: row.version, revision: row.revision) }
}

/// The rows that contexts use, and some that they may use soon, by object identifier.
///
/// A row that contexts have registered stays until each of them has unregistered it. Other rows are in two generations;
/// the older generation is dropped when the younger reaches half of the cache's limit in bytes. Several threads may use
/// the cache at once.
///
/// Whoever has changed a row tells the cache so after the change. Whoever reads rows does so within ``reading(_:)``: the
/// cache does not keep a row that has been changed since.
final class RowCache: @unchecked Sendable {
  private let lock = NSLock()
  /// The lock makes each access exclusive, so the compiler need not have that checked.
  @exclusivity(unchecked) private var table: RowTable
  @exclusivity(unchecked) private var changed = ChangedRows()
  private let now: @Sendable () -> UInt64

  /// - Parameters:
  ///   - limit: How many bytes unregistered rows may take.
  ///   - now: Returns a monotonic time in nanoseconds.
  init(limit: Int, now: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }) {
    unsafe table = RowTable(limit: limit)
    self.now = now
  }

  private func withTable<Result>(_ body: (inout RowTable) -> Result) -> Result {
    lock.withLock { unsafe body(&table) }
  }

  private func withTable<Result>(changing id: NSManagedObjectID, _ body: (inout RowTable) -> Result) -> Result {
    lock.withLock {
      unsafe changed.note(id)
      return unsafe body(&table)
    }
  }

  /// Runs a closure that reads rows, from snapshots that it makes, and puts them into the cache. The closure gets a
  /// number, for ``set(_:of:readSince:)``.
  func reading<Result>(_ body: (UInt64) throws -> Result) rethrows -> Result {
    let start = lock.withLock { unsafe changed.beginReading() }
    defer { lock.withLock { unsafe changed.endReading(start) } }
    return try body(start)
  }

  /// The bytes of all unregistered rows, and the number of all rows. O(unregistered and registered rows).
  var size: (unregisteredBytes: Int, rows: Int) { withTable { $0.size } }

  /// The row of an object if it was retrieved less than `maximumAge` seconds ago, or at any time if `maximumAge` is
  /// negative.
  func row(of id: NSManagedObjectID, maximumAge: TimeInterval = -1) -> CachedRow? {
    withTable { table in
      guard let place = table.use(id), let row = table.row(at: place) else { return nil }
      return maximumAge < 0 || Double(now() &- table.time(at: place)) < maximumAge * 1e9 ? row : nil
    }
  }

  /// Puts a row into the cache as it was saved. An older state never replaces a newer one.
  func set(_ row: CachedRow, of id: NSManagedObjectID) {
    withTable(changing: id) { _ = set(row, of: id, in: &$0) }
  }

  /// Puts a row that was just read into the cache, unless it has changed since. An older state never replaces a newer
  /// one.
  ///
  /// - Parameter start: The number from ``reading(_:)``.
  /// - Returns: The newer of both states; the given one if the row has changed since.
  @discardableResult
  func set(_ row: CachedRow, of id: NSManagedObjectID, readSince start: UInt64) -> CachedRow {
    lock.withLock {
      unsafe changed.mayHaveChanged(id, since: start) ? row : set(row, of: id, in: &table)
    }
  }

  private func set(_ row: CachedRow, of id: NSManagedObjectID, in table: inout RowTable) -> CachedRow {
    guard let place = table.use(id) else {
      table.insert(row, now(), of: id)
      return row
    }
    if let known = table.row(at: place), known.revision > row.revision { return known }
    table.replaceRow(at: place, with: row, now())
    return row
  }

  /// Notes that a row was touched. If the cache has another state of the row than the one before, removes that.
  func touch(_ id: NSManagedObjectID, from former: UInt64, version: UInt64, _ revision: UInt64) {
    withTable(changing: id) { table in
      guard let place = table.use(id) else { return }
      guard var row = table.row(at: place), row.revision == former else { return table.removeRow(at: place) }
      (row.version, row.revision) = (version, revision)
      table.replaceRow(at: place, with: row, now())
    }
  }

  /// Whether there is no row, and nobody is reading one. Changes need not be told then.
  var isUnused: Bool { lock.withLock { unsafe table.isEmpty && !changed.areWatched } }

  /// Removes a row that no longer exists, or that may be out of date.
  func remove(_ id: NSManagedObjectID) {
    withTable(changing: id) { table in
      guard let place = table.use(id) else { return }
      table.removeRow(at: place)
    }
  }

  // MARK: Contexts

  func isRegistered(_ id: NSManagedObjectID) -> Bool { withTable { $0.isRegistered(id) } }

  func register(_ ids: [NSManagedObjectID]) { withTable { $0.register(ids) } }

  func unregister(_ ids: [NSManagedObjectID]) { withTable { $0.unregister(ids) } }
}
