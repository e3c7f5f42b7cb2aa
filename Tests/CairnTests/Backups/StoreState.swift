import CairnSimulation

@testable import Cairn

/// All rows and older versions of a store at one commit.
struct StoreState: Equatable {
  var rows: [String: [Row]] = [:]
  var histories: [String: [Key: [RowVersion]]] = [:]

  init(_ store: Store) throws {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    for keyspace in store.keyspaces {
      let found = try snapshot.rows(in: keyspace).sorted { $0.key < $1.key }
      // A keyspace without rows may or may not be known.
      if !found.isEmpty { rows[keyspace.name] = found }
      guard keyspace.retention != .newest else { continue }
      for row in found {
        histories[keyspace.name, default: [:]][row.key] = try snapshot.history(of: row.key, in: keyspace)
      }
    }
  }
}

extension Machine {
  static let backup = "/backup"

  /// Opens a store for reading. No background work is needed.
  func reader(at path: String, upTo commit: CommitSequence? = nil) throws(StoreError) -> Store {
    var options = Self.options
    options.access = .readOnly
    options.upTo = commit
    return try Store.open(at: path, options: options, environment: environment(ManualScheduler()))
  }

  func state(at path: String, upTo commit: CommitSequence? = nil) throws -> StoreState {
    let store = try reader(at: path, upTo: commit)
    defer { try? store.close() }
    return try StoreState(store)
  }

  @discardableResult
  func restore(
    from source: String = Machine.backup, to path: String, at commit: CommitSequence? = nil
  ) throws(StoreError) -> RestoreReport {
    try Store.restore(from: source, to: path, at: commit, environment: environment(ManualScheduler()))
  }

  /// Opens another store than that at `path`, whose background work never runs.
  func openOther(at path: String) throws(StoreError) -> Store {
    try Store.open(at: path, options: Self.options, environment: environment(ManualScheduler()))
  }

  func names(at path: String) throws -> [String] { try files.list(path) }

  /// The machine after the end of its processes: everything that was written is there.
  func afterKill() -> Machine { Machine(files.afterKill(), seed: 99) }
}
