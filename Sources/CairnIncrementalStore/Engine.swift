import Cairn
import Foundation

/// An open store of the engine, which all coordinators of the process share that have it open.
final class Engine: @unchecked Sendable {
  let store: Store
  let isReadOnly: Bool
  /// Held by whoever saves.
  let turn = NSLock()
  /// Numbers that are reserved and not given out; under the turn.
  var reserved: ReferenceBlock?
  private let keyspaces = Lock<[Rows: Keyspace]>([:])
  private var users = 0

  private init(_ store: Store, isReadOnly: Bool) {
    self.store = store
    self.isReadOnly = isReadOnly
  }

  // MARK: Life

  private struct Entry {
    weak let engine: Engine?
  }

  /// Those that are open for writing. Opening and closing are done one at a time, so that nobody gets a store that is
  /// being closed.
  private static let engines = Lock<[ObjectIdentifier: Entry]>([:])

  /// The engine of the store at a path, which is opened if the process does not have it open for writing.
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

  /// One user less; the last one closes the store.
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

  /// Whether a coordinator of this process has the store at that very path open for writing.
  static func isInUse(_ path: String) -> Bool {
    engines.withLock { $0.values.contains { $0.engine.map { $0.store.path == path } ?? false } }
  }

  // MARK: Keyspaces

  /// What lies in a keyspace of its own.
  enum Rows: Hashable {
    case table(UInt32)
    case packs

    var name: String {
      switch self {
      case .table(let number): "table \(number)"
      case .packs: "entries"
      }
    }
  }

  /// The keyspace of some rows; nil if there is none.
  func keyspace(_ rows: Rows) -> Keyspace? {
    if let known = keyspaces.withLock({ $0[rows] }) { return known }
    let name = rows.name
    guard let found = store.keyspaces.first(where: { $0.name == name }) else { return nil }
    keyspaces.withLock { $0[rows] = found }
    return found
  }

  /// The keyspace of some rows, which is made if there is none.
  func makeKeyspace(_ rows: Rows) throws(StoreError) -> Keyspace {
    if let known = keyspaces.withLock({ $0[rows] }) { return known }
    let made = try store.keyspace(rows.name, .ordered)
    keyspaces.withLock { $0[rows] = made }
    return made
  }
}
