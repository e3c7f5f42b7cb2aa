import CoreData

/// The rows that contexts use, and some that they may use soon, by object identifier.
///
/// A row that contexts have registered stays until each of them has unregistered it. Other rows are in two generations;
/// the older generation is dropped when the younger reaches half of the cache's limit in bytes. Several threads may use
/// the cache at once.
final class RowCache: @unchecked Sendable {
  private struct Entry {
    /// Nil if contexts have registered the object, but its row has not been retrieved, or may be out of date.
    var node: RowNode?
    var retrieved: UInt64 = 0
    var bytes: Int32 = 0
    /// How many contexts have registered the object.
    var users: Int32 = 0

    init(_ node: RowNode, _ row: StoredRow, retrieved: UInt64) {
      self.node = node
      self.retrieved = retrieved
      bytes = Entry.bytes(of: row)
    }

    init(users: Int32) { self.users = users }

    /// The bytes that a row takes, with an estimate of 300 for its node and the entry in the cache.
    static func bytes(of row: StoredRow) -> Int32 { Int32(clamping: row.bytes.count) + 300 }

    var unregisteredBytes: Int { users == 0 ? Int(bytes) : 0 }
  }

  private let lock = NSLock()
  private let limit: Int
  /// The entries that have been used since the generation began.
  private var young: [IDKey: Entry] = [:]
  /// The bytes of the unregistered rows among them.
  private var youngBytes = 0
  /// The entries that were used in the generation before, and not since.
  private var old: [IDKey: Entry] = [:]
  /// The registered entries that were not used in these generations.
  private var kept: [IDKey: Entry] = [:]
  private let now: @Sendable () -> UInt64

  /// - Parameters:
  ///   - limit: How many bytes unregistered rows may take.
  ///   - now: Returns a monotonic time in nanoseconds.
  init(limit: Int, now: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }) {
    self.limit = limit
    self.now = now
  }

  /// The bytes of all unregistered rows, and the number of all rows. O(unregistered and registered rows).
  var size: (unregisteredBytes: Int, rows: Int) {
    lock.withLock {
      let entries = [young, old, kept].flatMap(\.values)
      return (entries.reduce(0) { $0 + $1.unregisteredBytes }, entries.count { $0.node != nil })
    }
  }

  /// The row of an object if it was retrieved less than `maximumAge` seconds ago, or at any time if `maximumAge` is
  /// negative.
  func node(for id: NSManagedObjectID, maximumAge: TimeInterval = -1) -> RowNode? {
    lock.withLock {
      guard let place = place(of: IDKey(id)), let node = young.values[place].node else { return nil }
      let retrieved = young.values[place].retrieved
      return maximumAge < 0 || Double(now() &- retrieved) < maximumAge * 1e9 ? node : nil
    }
  }

  /// Puts a row that was just retrieved into the cache. An older state never replaces a newer one.
  @discardableResult
  func set(_ row: StoredRow, of id: NSManagedObjectID, make: () -> RowNode) -> RowNode {
    let key = IDKey(id)
    return lock.withLock {
      let time = now()
      guard let place = place(of: key) else {
        let node = make()
        let entry = Entry(node, row, retrieved: time)
        if !isTooLarge(entry) { add(entry, key) }
        return node
      }
      let known = young.values[place].node
      let node = known ?? make()
      let revision = known?.row.revision ?? row.revision
      if row.revision > revision { node.replace(row) }
      change(place) {
        if row.revision > revision || known == nil { $0.bytes = Entry.bytes(of: row) }
        if row.revision >= revision { $0.retrieved = time }
        $0.node = node
      }
      return node
    }
  }

  /// Notes that a row was touched. If the cache has another state of the row than the one before, removes that.
  func touch(_ id: NSManagedObjectID, from former: UInt64, version: UInt64, _ revision: UInt64) {
    lock.withLock {
      guard let place = place(of: IDKey(id)), let node = young.values[place].node else { return }
      let isFollowed = node.touch(from: former, version: version, revision)
      change(place) { if isFollowed { $0.retrieved = now() } else { $0.node = nil } }
    }
  }

  /// Whether there is no row.
  var isEmpty: Bool { lock.withLock { young.isEmpty && old.isEmpty && kept.isEmpty } }

  /// Removes a row that no longer exists, or that may be out of date.
  func remove(_ id: NSManagedObjectID) {
    lock.withLock {
      guard let place = place(of: IDKey(id)) else { return }
      change(place) { $0.node = nil }
    }
  }

  // MARK: Contexts

  func isRegistered(_ id: NSManagedObjectID) -> Bool {
    let key = IDKey(id)
    return lock.withLock { (young[key] ?? old[key] ?? kept[key]).map { $0.users > 0 } ?? false }
  }

  func register(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for key in ids.lazy.map(IDKey.init) {
        if let place = place(of: key) {
          change(place) { $0.users += 1 }
        } else {
          young[key] = Entry(users: 1)
        }
      }
    }
  }

  func unregister(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for key in ids.lazy.map(IDKey.init) {
        guard let place = place(of: key), young.values[place].users > 0 else { continue }
        change(place) { $0.users -= 1 }
      }
    }
  }

  // MARK: Under the lock

  private typealias Place = Dictionary<IDKey, Entry>.Index

  /// The place of an entry in the younger generation, into which it moves. The place is valid until an entry is added
  /// or removed.
  private func place(of key: IDKey) -> Place? {
    if let place = young.index(forKey: key) { return place }
    guard let entry = old.removeValue(forKey: key) ?? kept.removeValue(forKey: key) else { return nil }
    add(entry, key)
    return young.index(forKey: key)
  }

  private func add(_ entry: Entry, _ key: IDKey) {
    if youngBytes + entry.unregisteredBytes > limit / 2 { startGeneration() }
    young[key] = entry
    youngBytes += entry.unregisteredBytes
  }

  /// Changes an entry of the younger generation. Removes an entry that nobody has registered if it has no row, or one
  /// that is too large.
  private func change(_ place: Place, _ body: (inout Entry) -> Void) {
    guard isKept(&young.values[place], after: body) else {
      young.remove(at: place)
      return
    }
    guard youngBytes > limit / 2 else { return }
    let (key, entry) = young.remove(at: place)
    youngBytes -= entry.unregisteredBytes
    add(entry, key)
  }

  private func isKept(_ entry: inout Entry, after body: (inout Entry) -> Void) -> Bool {
    youngBytes -= entry.unregisteredBytes
    body(&entry)
    guard entry.users > 0 || entry.node != nil && !isTooLarge(entry) else { return false }
    youngBytes += entry.unregisteredBytes
    return true
  }

  private func isTooLarge(_ entry: Entry) -> Bool { Int(entry.bytes) > limit / 2 }

  private func startGeneration() {
    for (key, entry) in old where entry.users > 0 { kept[key] = entry }
    old = young
    young = Dictionary(minimumCapacity: 2 * old.count)
    youngBytes = 0
  }
}
