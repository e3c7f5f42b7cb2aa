import CoreData

/// The rows that contexts use, and some that they may use soon, by object identifier.
///
/// A row that contexts have registered stays until each of them has unregistered it. Other rows are in two generations;
/// the older generation is dropped when the younger reaches half of the cache's limit in bytes. Several threads may use
/// the cache at once.
final class RowCache: @unchecked Sendable {
  private struct Registered {
    var count: Int
    var node: RowNode?
    var retrieved: UInt64
  }

  private struct Unregistered {
    let node: RowNode
    var retrieved: UInt64
  }

  private let lock = NSLock()
  private let limit: Int
  private var registered: [IDKey: Registered] = [:]
  private var young: [IDKey: Unregistered] = [:]
  private var old: [IDKey: Unregistered] = [:]
  private var youngBytes = 0
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
      let nodes = young.values.map(\.node) + old.values.map(\.node)
      return (nodes.reduce(0) { $0 + Self.bytes(of: $1) }, nodes.count + registered.values.count { $0.node != nil })
    }
  }

  /// The row of an object if it was retrieved less than `maximumAge` seconds ago, or at any time if `maximumAge` is
  /// negative.
  func node(for id: NSManagedObjectID, maximumAge: TimeInterval = -1) -> RowNode? {
    lock.withLock {
      guard let (node, retrieved) = find(IDKey(id)) else { return nil }
      guard maximumAge >= 0 else { return node }
      return Double(now() &- retrieved) < maximumAge * 1e9 ? node : nil
    }
  }

  /// Puts a row that was just retrieved into the cache. An older state never replaces a newer one.
  @discardableResult
  func set(_ row: StoredRow, of id: NSManagedObjectID, make: () -> RowNode) -> RowNode {
    let key = IDKey(id)
    return lock.withLock {
      let time = now()
      if let place = registered.index(forKey: key) {
        let node = registered.values[place].node ?? make()
        registered.values[place].node = node
        guard row.revision >= node.row.revision else { return node }
        if row.revision > node.row.revision { node.replace(row) }
        registered.values[place].retrieved = time
        return node
      }
      // The row is added again, since it may have grown too large for its generation, or for the cache.
      let known = take(key)
      let node = known?.node ?? make()
      let isOlder = row.revision < node.row.revision
      if row.revision > node.row.revision { node.replace(row) }
      add(node, key, isOlder ? known?.retrieved ?? time : time)
      return node
    }
  }

  /// Removes a row that no longer exists, or that may be out of date.
  func remove(_ id: NSManagedObjectID) {
    let key = IDKey(id)
    lock.withLock {
      registered[key]?.node = nil
      _ = take(key)
    }
  }

  // MARK: Contexts

  func register(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for key in ids.lazy.map(IDKey.init) {
        if let place = registered.index(forKey: key) {
          registered.values[place].count += 1
          continue
        }
        let entry = take(key)
        registered[key] = Registered(count: 1, node: entry?.node, retrieved: entry?.retrieved ?? 0)
      }
    }
  }

  func unregister(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for key in ids.lazy.map(IDKey.init) {
        guard let place = registered.index(forKey: key) else { continue }
        registered.values[place].count -= 1
        guard registered.values[place].count == 0 else { continue }
        let entry = registered.remove(at: place).value
        if let node = entry.node { add(node, key, entry.retrieved) }
      }
    }
  }

  // MARK: Under the lock

  private func find(_ key: IDKey) -> (node: RowNode, retrieved: UInt64)? {
    if let entry = registered[key] { return entry.node.map { ($0, entry.retrieved) } }
    if let entry = young[key] { return (entry.node, entry.retrieved) }
    guard !old.isEmpty, let entry = old.removeValue(forKey: key) else { return nil }
    add(entry.node, key, entry.retrieved)
    return (entry.node, entry.retrieved)
  }

  /// Takes an unregistered row out of its generation; nil if there is no such row.
  private func take(_ key: IDKey) -> Unregistered? {
    if let entry = young.removeValue(forKey: key) {
      youngBytes -= Self.bytes(of: entry.node)
      return entry
    }
    return old.isEmpty ? nil : old.removeValue(forKey: key)
  }

  /// Adds an unregistered row to the younger generation, unless the row is larger than half of the limit.
  private func add(_ node: RowNode, _ key: IDKey, _ retrieved: UInt64) {
    let bytes = Self.bytes(of: node)
    guard bytes <= limit / 2 else { return }
    if youngBytes + bytes > limit / 2 {
      old = young
      young = [:]
      youngBytes = 0
    }
    young[key] = Unregistered(node: node, retrieved: retrieved)
    youngBytes += bytes
  }

  /// The bytes that a row takes, with an estimate of 300 for its node and the entry in the cache.
  private static func bytes(of node: RowNode) -> Int { node.row.bytes.count + 300 }
}
