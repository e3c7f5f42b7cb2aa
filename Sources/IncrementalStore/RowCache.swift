import Foundation
import OpenCoreData

/// The rows that contexts use, and some that they may use soon, by the identifiers of their objects.
///
/// A row that a context has registered stays until as many contexts have unregistered it. Others are in two
/// generations, of which the older is dropped when the younger has half of the bytes that the cache may have. May be
/// used by several threads at once.
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
  private var registered: [NSManagedObjectID: Registered] = [:]
  private var young: [NSManagedObjectID: Unregistered] = [:]
  private var old: [NSManagedObjectID: Unregistered] = [:]
  private var youngBytes = 0
  private let now: @Sendable () -> UInt64

  /// - Parameters:
  ///   - limit: How many bytes rows that nobody has registered may take.
  ///   - now: Nanoseconds that never go back.
  init(limit: Int, now: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }) {
    self.limit = limit
    self.now = now
  }

  /// Bytes of rows that nobody has registered, and the number of all rows.
  var size: (unregisteredBytes: Int, rows: Int) {
    lock.withLock {
      let nodes = young.values.map(\.node) + old.values.map(\.node)
      return (nodes.reduce(0) { $0 + Self.bytes(of: $1) }, nodes.count + registered.values.count { $0.node != nil })
    }
  }

  /// A row that was retrieved at most so many seconds ago; however long ago, if that is negative.
  func node(for id: NSManagedObjectID, maximumAge: TimeInterval = -1) -> RowNode? {
    lock.withLock {
      guard let (node, retrieved) = find(id) else { return nil }
      guard maximumAge >= 0 else { return node }
      return Double(now() &- retrieved) < maximumAge * 1e9 ? node : nil
    }
  }

  /// Notes a row that was just retrieved. An older state never replaces a newer one.
  @discardableResult
  func set(_ row: StoredRow, of id: NSManagedObjectID, make: () -> RowNode) -> RowNode {
    lock.withLock {
      let time = now()
      guard let (node, _) = find(id) else {
        let node = make()
        add(node, id, time)
        return node
      }
      if row.revision >= node.row.revision {
        let bytes = Self.bytes(of: node)
        if row.revision > node.row.revision { node.replace(row) }
        if registered[id] != nil {
          registered[id]?.retrieved = time
        } else {
          young[id]?.retrieved = time
          youngBytes += Self.bytes(of: node) - bytes
        }
      }
      return node
    }
  }

  /// Forgets a row that is gone.
  func remove(_ id: NSManagedObjectID) {
    lock.withLock {
      registered[id]?.node = nil
      old[id] = nil
      if let removed = young.removeValue(forKey: id) { youngBytes -= Self.bytes(of: removed.node) }
    }
  }

  // MARK: Contexts

  func register(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for id in ids {
        if registered[id] != nil {
          registered[id]?.count += 1
          continue
        }
        let found = young.removeValue(forKey: id)
        if let found { youngBytes -= Self.bytes(of: found.node) }
        let older = found == nil && !old.isEmpty ? old.removeValue(forKey: id) : nil
        let entry = found ?? older
        registered[id] = Registered(count: 1, node: entry?.node, retrieved: entry?.retrieved ?? 0)
      }
    }
  }

  func unregister(_ ids: [NSManagedObjectID]) {
    lock.withLock {
      for id in ids {
        guard let entry = registered[id] else { continue }
        if entry.count > 1 {
          registered[id]?.count -= 1
        } else {
          registered[id] = nil
          if let node = entry.node { add(node, id, entry.retrieved) }
        }
      }
    }
  }

  // MARK: Under the lock

  private func find(_ id: NSManagedObjectID) -> (node: RowNode, retrieved: UInt64)? {
    if let entry = registered[id] { return entry.node.map { ($0, entry.retrieved) } }
    if let entry = young[id] { return (entry.node, entry.retrieved) }
    guard !old.isEmpty, let entry = old[id] else { return nil }
    old[id] = nil
    add(entry.node, id, entry.retrieved)
    return (entry.node, entry.retrieved)
  }

  private func add(_ node: RowNode, _ id: NSManagedObjectID, _ retrieved: UInt64) {
    if registered[id] != nil {
      registered[id]?.node = node
      registered[id]?.retrieved = retrieved
      return
    }
    let bytes = Self.bytes(of: node)
    guard bytes <= limit / 2 else { return }
    if youngBytes + bytes > limit / 2 {
      old = young
      young = [:]
      youngBytes = 0
    }
    young[id] = Unregistered(node: node, retrieved: retrieved)
    youngBytes += bytes
  }

  /// What a row takes with everything around it.
  private static func bytes(of node: RowNode) -> Int { node.row.bytes.count + 300 }
}
