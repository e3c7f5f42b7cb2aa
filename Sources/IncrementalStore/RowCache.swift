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
final class RowCache: @unchecked Sendable {
  private let lock = NSLock()
  /// The lock makes each access exclusive, so the compiler need not have that checked.
  @exclusivity(unchecked) private var entries: Generations
  private let now: @Sendable () -> UInt64

  /// - Parameters:
  ///   - limit: How many bytes unregistered rows may take.
  ///   - now: Returns a monotonic time in nanoseconds.
  init(limit: Int, now: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }) {
    unsafe entries = Generations(limit: limit)
    self.now = now
  }

  private func withEntries<Result>(_ body: (inout Generations) -> Result) -> Result {
    lock.withLock { unsafe body(&entries) }
  }

  /// The bytes of all unregistered rows, and the number of all rows. O(unregistered and registered rows).
  var size: (unregisteredBytes: Int, rows: Int) {
    withEntries { entries in
      let all = entries.all
      return (all.reduce(0) { $0 + $1.unregisteredBytes }, all.count { $0.row != nil })
    }
  }

  /// The row of an object if it was retrieved less than `maximumAge` seconds ago, or at any time if `maximumAge` is
  /// negative.
  func row(of id: NSManagedObjectID, maximumAge: TimeInterval = -1) -> CachedRow? {
    withEntries { entries in
      guard let place = entries.place(of: IDKey(id)), let row = entries[place].row else { return nil }
      let retrieved = entries[place].retrieved
      return maximumAge < 0 || Double(now() &- retrieved) < maximumAge * 1e9 ? row : nil
    }
  }

  /// Puts a row that was just retrieved into the cache. An older state never replaces a newer one.
  ///
  /// - Returns: The newer of both states.
  @discardableResult
  func set(_ row: CachedRow, of id: NSManagedObjectID) -> CachedRow {
    let key = IDKey(id)
    return withEntries { entries in
      let time = now()
      guard let place = entries.place(of: key) else {
        entries.add(Entry(row, retrieved: time), key)
        return row
      }
      if let known = entries[place].row, known.revision > row.revision { return known }
      entries.change(place) { ($0.row, $0.retrieved) = (row, time) }
      return row
    }
  }

  /// Notes that a row was touched. If the cache has another state of the row than the one before, removes that.
  func touch(_ id: NSManagedObjectID, from former: UInt64, version: UInt64, _ revision: UInt64) {
    withEntries { entries in
      guard let place = entries.place(of: IDKey(id)) else { return }
      entries.change(place) {
        guard $0.row?.revision == former else { return $0.row = nil }
        $0.row?.version = version
        $0.row?.revision = revision
        $0.retrieved = now()
      }
    }
  }

  /// Whether there is no row.
  var isEmpty: Bool { withEntries { $0.isEmpty } }

  /// Removes a row that no longer exists, or that may be out of date.
  func remove(_ id: NSManagedObjectID) {
    withEntries { entries in
      guard let place = entries.place(of: IDKey(id)) else { return }
      entries.change(place) { $0.row = nil }
    }
  }

  // MARK: Contexts

  func isRegistered(_ id: NSManagedObjectID) -> Bool { withEntries { $0.hasUsers(IDKey(id)) } }

  func register(_ ids: [NSManagedObjectID]) { withEntries { $0.register(ids) } }

  func unregister(_ ids: [NSManagedObjectID]) { withEntries { $0.unregister(ids) } }
}

/// The entries of the cache.
private struct Generations {
  let limit: Int
  /// The entries that have been used since the generation began.
  private var young: [IDKey: Entry] = [:]
  /// The bytes of the unregistered rows among them.
  private var youngBytes = 0
  /// The entries that were used in the generation before, and not since.
  private var old: [IDKey: Entry] = [:]
  /// The registered entries that were not used in these generations.
  private var kept: [IDKey: Entry] = [:]

  init(limit: Int) { self.limit = limit }

  var all: [Entry] { [young, old, kept].flatMap(\.values) }

  var isEmpty: Bool { young.isEmpty && old.isEmpty && kept.isEmpty }

  func hasUsers(_ key: IDKey) -> Bool { (young[key] ?? old[key] ?? kept[key]).map { $0.users > 0 } ?? false }

  mutating func register(_ ids: [NSManagedObjectID]) {
    for key in ids.lazy.map(IDKey.init) {
      if let place = place(of: key) {
        change(place) { $0.users += 1 }
      } else {
        young[key] = Entry(users: 1)
      }
    }
  }

  mutating func unregister(_ ids: [NSManagedObjectID]) {
    for key in ids.lazy.map(IDKey.init) {
      guard let place = place(of: key), self[place].users > 0 else { continue }
      change(place) { $0.users -= 1 }
    }
  }

  // MARK: Places

  typealias Place = Dictionary<IDKey, Entry>.Index

  subscript(place: Place) -> Entry { young.values[place] }

  /// The place of an entry in the younger generation, into which it moves. The place is valid until an entry is added
  /// or removed.
  mutating func place(of key: IDKey) -> Place? {
    if let place = young.index(forKey: key) { return place }
    guard !old.isEmpty || !kept.isEmpty, let entry = old.removeValue(forKey: key) ?? kept.removeValue(forKey: key)
    else { return nil }
    insert(entry, key)
    return young.index(forKey: key)
  }

  /// Adds an entry, unless it is too large.
  mutating func add(_ entry: Entry, _ key: IDKey) { if !entry.isTooLarge(for: limit) { insert(entry, key) } }

  private mutating func insert(_ entry: Entry, _ key: IDKey) {
    if youngBytes + entry.unregisteredBytes > limit / 2 { startGeneration() }
    young[key] = entry
    youngBytes += entry.unregisteredBytes
  }

  /// Changes an entry of the younger generation. Removes an entry that nobody has registered if it has no row, or one
  /// that is too large.
  mutating func change(_ place: Place, _ body: (inout Entry) -> Void) {
    let (before, after) = young.values[place].change(body, limit: limit)
    youngBytes += (after ?? 0) - before
    guard after != nil else {
      young.remove(at: place)
      return
    }
    guard youngBytes > limit / 2 else { return }
    let (key, entry) = young.remove(at: place)
    youngBytes -= entry.unregisteredBytes
    insert(entry, key)
  }

  private mutating func startGeneration() {
    for (key, entry) in old where entry.users > 0 { kept[key] = entry }
    old = young
    young = Dictionary(minimumCapacity: 2 * old.count)
    youngBytes = 0
  }
}

private struct Entry {
  /// Nil if contexts have registered the object, but its row has not been retrieved, or may be out of date.
  var row: CachedRow?
  var retrieved: UInt64 = 0
  /// How many contexts have registered the object.
  var users: Int32 = 0

  init(_ row: CachedRow, retrieved: UInt64) { (self.row, self.retrieved) = (row, retrieved) }

  init(users: Int32) { self.users = users }

  /// The bytes of the row, with an estimate of 250 for its array, its identifier and the entry in the cache.
  private var bytes: Int { row.map { $0.bytes.count + 250 } ?? 0 }

  var unregisteredBytes: Int { users == 0 ? bytes : 0 }

  func isTooLarge(for limit: Int) -> Bool { bytes > limit / 2 }

  /// Returns the unregistered bytes before and after a change; nil after it if the cache does not keep the entry.
  mutating func change(_ body: (inout Entry) -> Void, limit: Int) -> (before: Int, after: Int?) {
    let before = unregisteredBytes
    body(&self)
    let isKept = users > 0 || row != nil && !isTooLarge(for: limit)
    return (before, isKept ? unregisteredBytes : nil)
  }
}
