import Cairn
import Foundation

/// A store that contains a package catalogue.
struct CatalogueStore: Sendable {
  /// The row that distinguishes a catalogue's store from any other.
  private static let mark = (keyspace: "catalogue", row: Key.string("written by"), value: Array("catalogue".utf8))

  let store: Store
  /// (name, architecture, version) → the stanza, verbatim.
  let packages: Keyspace
  /// (name, name of a dependency) → the relation. If a package has several versions, the relation of the version
  /// imported last.
  let depends: Keyspace
  /// (name of a dependency, name) → the relation.
  let dependents: Keyspace

  private init(_ store: Store) throws(StoreError) {
    self.store = store
    packages = try store.keyspace("packages", order: .ordered)
    depends = try store.keyspace("depends", order: .ordered)
    dependents = try store.keyspace("dependents", order: .ordered)
  }

  static func open(at path: String) throws(StoreError) -> CatalogueStore {
    var options = StoreOptions()
    options.createsIfMissing = false
    return try CatalogueStore(Store.open(at: path, options: options))
  }

  /// Creates a new, empty store in place of an earlier catalogue or, if `replacing`, of any store. Never removes
  /// anything that is not a store.
  static func create(at path: String, replacing: Bool) throws -> CatalogueStore {
    if try isInTheWay(path, replacing: replacing) {
      try FileManager.default.removeItem(atPath: path)
    }
    let store = try Store.open(at: path)
    let keyspace = try store.keyspace(mark.keyspace, order: .ordered)
    try keyspace.put(mark.value, at: mark.row)
    return try CatalogueStore(store)
  }

  /// Whether there is a store to remove at the path; throws if there is something that must not be removed.
  private static func isInTheWay(_ path: String, replacing: Bool) throws -> Bool {
    var options = StoreOptions()
    options.access = .readOnly
    options.createsIfMissing = false
    let store: Store
    do {
      store = try Store.open(at: path, options: options)
    } catch {
      if error.code == .notFound { return false }
      guard replacing, [.damaged, .newerFormat, .corrupted].contains(error.code) else { throw error }
      return true
    }
    defer { try? store.close() }
    guard try replacing || isCatalogue(store) else { throw OccupiedPath(path: path) }
    return true
  }

  /// Whether the store was written by this program. An interrupted first run leaves a store without any keyspace.
  private static func isCatalogue(_ store: Store) throws(StoreError) -> Bool {
    guard let keyspace = store.keyspaces.first(where: { $0.name == mark.keyspace }) else {
      return store.keyspaces.isEmpty
    }
    return try keyspace.get(mark.row) == mark.value
  }
}

/// There is a store of another program at the path for the catalogue.
struct OccupiedPath: Error, CustomStringConvertible {
  let path: String

  var description: String {
    "\(path) is a store that this program didn't write; use --replace to remove it, or --store DIR for another place"
  }
}
