import IncrementalStore

/// The database of a check and the stores that have it open. Used by one thread; the stores may be used by others.
final class Session {
  let isPersistent: Bool
  private let database: RowStoreConformance.Database
  private let allowsSeveralStores: Bool
  private let seed: UInt64
  private var opened: [any RowStore] = []
  private var isAbandoned = false
  /// The seed, once random choices depend on it.
  private(set) var usedSeed: UInt64?

  init(_ database: RowStoreConformance.Database, isPersistent: Bool, allowsSeveralStores: Bool, seed: UInt64) throws {
    self.database = database
    self.isPersistent = isPersistent
    self.allowsSeveralStores = allowsSeveralStores
    self.seed = seed
    do {
      try store().apply { $0.put([1], .integer(1), in: 0) }
    } catch {
      try? end()
      throw error
    }
  }

  /// A store that has the database open; another one in each call if several may.
  func store() throws -> any RowStore {
    if !allowsSeveralStores, let store = opened.first { return store }
    let store = try database.open()
    opened.append(store)
    return store
  }

  func stores(_ count: Int) throws -> [any RowStore] { try (0..<count).map { _ in try store() } }

  /// Closes one of several stores.
  func close(_ store: any RowStore) throws {
    opened.removeAll { $0 === store }
    try store.close()
  }

  /// Closes all stores and opens the database again.
  func reopen() throws -> any RowStore {
    try close()
    return try store()
  }

  /// Closes all stores and removes the database.
  func end() throws {
    guard !isAbandoned else { return }
    let closing = Result { try close() }
    try database.remove()
    try closing.get()
  }

  /// Neither closes the stores nor removes the database, because threads still use them.
  func abandon() { isAbandoned = true }

  private func close() throws {
    let stores = opened
    opened = []
    for result in stores.map({ store in Result { try store.close() } }) { try result.get() }
  }

  /// Random choices that the seed determines.
  func random() -> SeededGenerator {
    usedSeed = seed
    return SeededGenerator(seed: seed)
  }
}

extension RowStore {
  /// A snapshot of the contents at this time.
  func heldSnapshot() throws -> any RowSnapshot {
    let snapshot = try snapshot()
    // A store that does not keep snapshots may take one when it is first read.
    if !keepsSnapshots { _ = try snapshot.count(in: 1) }
    return snapshot
  }
}
