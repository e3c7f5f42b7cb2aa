import Cairn
import Foundation

/// An open store of the engine, shared by all coordinators of the process that have it open for writing.
final class Engine: @unchecked Sendable {
  let store: Store
  let isReadOnly: Bool
  /// Held during a save and while references are reserved.
  let turn = NSLock()
  /// Numbers that are reserved and not yet used; guarded by `turn`.
  var reserved: ReferenceBlock?
  /// Few, so that a number is found sooner by comparing it with each than by its hash.
  private let tables = Lock<[(number: UInt32, table: Table)]>([])
  private let knownPacks = Lock<Keyspace?>(nil)
  private var users = 0

  private init(_ store: Store, isReadOnly: Bool) {
    self.store = store
    self.isReadOnly = isReadOnly
  }

  // MARK: Life

  private struct Entry {
    weak let engine: Engine?
  }

  /// The engines that are open for writing. The lock is held during opening and closing, so that nobody gets a store
  /// that is being closed.
  private static let engines = Lock<[ObjectIdentifier: Entry]>([:])

  /// The engine of the store at a path. The store is opened unless the process already has it open for writing.
  static func open(at path: String, _ options: CairnOptions) throws(StoreError) -> Engine {
    let result = engines.withLock { engines -> Result<Engine, StoreError> in
      do throws(StoreError) {
        let store = try Store.open(at: path, options: options.engineOptions, environment: options.environment)
        if !options.isReadOnly, let engine = engines[ObjectIdentifier(store)]?.engine, engine.store === store {
          engine.users += 1
          return .success(engine)
        }
        let engine = Engine(store, isReadOnly: options.isReadOnly)
        engine.users = 1
        engines = engines.filter { $0.value.engine != nil }
        if !options.isReadOnly { engines[ObjectIdentifier(store)] = Entry(engine: engine) }
        return .success(engine)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Ends one use of the engine; the last user closes the store.
  func leave() throws(StoreError) {
    let result = Self.engines.withLock { engines -> Result<Void, StoreError> in
      users -= 1
      guard users == 0 else { return .success(()) }
      engines[ObjectIdentifier(store)] = nil
      do throws(StoreError) {
        try store.close()
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Whether a coordinator of this process has the store at exactly this path open for writing.
  static func isInUse(_ path: String) -> Bool {
    engines.withLock { $0.values.contains { $0.engine.map { $0.store.path == path } ?? false } }
  }

  // MARK: Keyspaces

  /// The rows of a table, and how often each of them was touched: STORE-FORMAT.md, section 1.
  final class Table: Sendable {
    let rows: Keyspace
    let touches: Keyspace

    init(rows: Keyspace, touches: Keyspace) { (self.rows, self.touches) = (rows, touches) }
  }

  /// A table; nil if it has never had rows.
  func table(_ number: UInt32) throws(StoreError) -> Table? {
    if let known = knownTable(number) { return known }
    let name = Self.name(of: number)
    guard store.keyspaces.contains(where: { $0.name == name }) else { return nil }
    return try makeTable(number)
  }

  /// A table, created if it does not exist.
  func makeTable(_ number: UInt32) throws(StoreError) -> Table {
    if let known = knownTable(number) { return known }
    let made = Table(
      rows: try store.keyspace(Self.name(of: number), order: .ordered),
      touches: try store.keyspace("touches \(number)", order: .unordered))
    tables.withLock { tables in
      if !tables.contains(where: { $0.number == number }) { tables.append((number, made)) }
    }
    return made
  }

  private func knownTable(_ number: UInt32) -> Table? {
    tables.withLock { tables in tables.first { $0.number == number }?.table }
  }

  private static func name(of table: UInt32) -> String { "table \(table)" }

  /// The keyspace of the packs; nil if it does not exist.
  var packs: Keyspace? {
    knownPacks.withLock { packs in
      if packs == nil { packs = store.keyspaces.first { $0.name == Self.nameOfPacks } }
      return packs
    }
  }

  /// The keyspace of the packs, created if it does not exist.
  func makePacks() throws(StoreError) -> Keyspace {
    if let packs { return packs }
    return try store.keyspace(Self.nameOfPacks, order: .ordered)
  }

  private static let nameOfPacks = "entries"
}
