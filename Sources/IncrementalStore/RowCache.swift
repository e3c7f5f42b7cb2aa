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
    /// The last generation in which the row was; it is in that generation only as long as no context has registered it.
    var generation = -1

    init(_ node: RowNode, _ row: StoredRow, retrieved: UInt64) {
      self.node = node
      self.retrieved = retrieved
      bytes = Entry.bytes(of: row)
    }

    init(users: Int32) { self.users = users }

    /// The bytes that a row takes, with an estimate of 300 for its node and the entry in the cache.
    static func bytes(of row: StoredRow) -> Int32 { Int32(clamping: row.bytes.count) + leastBytes }

    static let leastBytes: Int32 = 300
  }

  private let lock = NSLock()
  private let limit: Int
  private var entries: [IDKey: Entry] = [:]
  /// The younger generation. The one before it is the older one.
  private var generation = 0
  private var youngBytes = 0
  /// The keys of rows that have been in the younger generation.
  private var young: [IDKey] = []
  private var old: [IDKey] = []
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
      let bytes = entries.values.reduce(0) { $0 + ($1.users == 0 ? Int($1.bytes) : 0) }
      return (bytes, entries.values.count { $0.node != nil })
    }
  }

  /// The row of an object if it was retrieved less than `maximumAge` seconds ago, or at any time if `maximumAge` is
  /// negative.
  func node(for id: NSManagedObjectID, maximumAge: TimeInterval = -1) -> RowNode? {
    let key = IDKey(id)
    return lock.withLock {
      guard let place = entries.index(forKey: key), let node = entries.values[place].node else { return nil }
      let retrieved = entries.values[place].retrieved
      if entries.values[place].users == 0 { rejuvenate(place) }
      return maximumAge < 0 || Double(now() &- retrieved) < maximumAge * 1e9 ? node : nil
    }
  }

  /// Puts a row that was just retrieved into the cache. An older state never replaces a newer one.
  @discardableResult
  func set(_ row: StoredRow, of id: NSManagedObjectID, make: () -> RowNode) -> RowNode {
    let key = IDKey(id)
    return lock.withLock {
      let time = now()
      guard let place = entries.index(forKey: key) else {
        let node = make()
        add(Entry(node, row, retrieved: time), key)
        return node
      }
      let known = entries.values[place].node
      let node = known ?? make()
      let revision = known?.row.revision ?? row.revision
      if row.revision > revision { node.replace(row) }
      if row.revision > revision || known == nil { change(place) { $0.bytes = Entry.bytes(of: row) } }
      entries.values[place].node = node
      if row.revision >= revision { entries.values[place].retrieved = time }
      if entries.values[place].users == 0 { rejuvenate(place) }
      return node
    }
  }

  /// Whether there is no row.
  var isEmpty: Bool { lock.withLock { entries.isEmpty } }

  /// Removes a row that no longer exists, or that may be out of date.
  func remove(_ id: NSManagedObjectID) {
    let key = IDKey(id)
    lock.withLock {
      guard let place = entries.index(forKey: key) else { return }
      if entries.values[place].users == 0 { take(place) } else { entries.values[place].node = nil }
    }
  }

  // MARK: Contexts

  func isRegistered(_ id: NSManagedObjectID) -> Bool {
    let key = IDKey(id)
    return lock.withLock { entries[key].map { $0.users > 0 } ?? false }
  }

  func register(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for key in ids.lazy.map(IDKey.init) {
        if let place = entries.index(forKey: key) {
          change(place) { $0.users += 1 }
        } else {
          entries[key] = Entry(users: 1)
        }
      }
    }
  }

  func unregister(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for key in ids.lazy.map(IDKey.init) {
        guard let place = entries.index(forKey: key), entries.values[place].users > 0 else { continue }
        change(place) { $0.users -= 1 }
        guard entries.values[place].users == 0 else { continue }
        if entries.values[place].node == nil { take(place) } else { rejuvenate(place) }
      }
    }
  }

  // MARK: Under the lock

  private typealias Place = Dictionary<IDKey, Entry>.Index

  /// The bytes of an entry in the younger generation.
  private func youngBytes(of entry: Entry) -> Int {
    entry.users == 0 && entry.generation == generation ? Int(entry.bytes) : 0
  }

  /// Changes an entry, and keeps the bytes of the younger generation true.
  private func change(_ place: Place, _ body: (inout Entry) -> Void) {
    let before = youngBytes(of: entries.values[place])
    body(&entries.values[place])
    youngBytes += youngBytes(of: entries.values[place]) - before
  }

  @discardableResult
  private func take(_ place: Place) -> (key: IDKey, value: Entry) {
    youngBytes -= youngBytes(of: entries.values[place])
    return entries.remove(at: place)
  }

  /// Moves an unregistered row into the younger generation.
  private func rejuvenate(_ place: Place) {
    guard entries.values[place].generation != generation || youngBytes > limit / 2 else { return }
    let (key, entry) = take(place)
    add(entry, key)
  }

  /// Adds an unregistered row to the younger generation, unless the row is larger than half of the limit.
  private func add(_ entry: Entry, _ key: IDKey) {
    guard Int(entry.bytes) <= limit / 2 else { return }
    // A row that was removed and came back is among the keys twice.
    if youngBytes + Int(entry.bytes) > limit / 2 || young.count >= limit / 2 / Int(Entry.leastBytes) {
      startGeneration()
    }
    var entry = entry
    entry.generation = generation
    entries[key] = entry
    young.append(key)
    youngBytes += Int(entry.bytes)
  }

  private func startGeneration() {
    for key in old {
      guard let place = entries.index(forKey: key) else { continue }
      let entry = entries.values[place]
      if entry.users == 0, entry.generation < generation { entries.remove(at: place) }
    }
    (old, young) = (young, [])
    youngBytes = 0
    generation += 1
  }
}
