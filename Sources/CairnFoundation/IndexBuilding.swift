import Cairn

/// Builds the indexes of a keyspace that are new or have another version, and drops those that are no longer given.
struct IndexBuilding<Value: Sendable> {
  private let indexes: [ValueIndex<Value>]
  private let keyspace: Keyspace
  private let coding: ValueCoding<Value>
  private let store: Store
  /// The versions of the indexes that are built, by their names.
  private let versions: Keyspace

  init(_ indexes: [ValueIndex<Value>], of keyspace: Keyspace, _ coding: ValueCoding<Value>) throws {
    (self.indexes, self.keyspace, self.coding) = (indexes, keyspace, coding)
    store = keyspace.store
    versions = try store.keyspace("\(keyspace.name)/indexes")
  }

  func run() throws {
    let built = try Dictionary(uniqueKeysWithValues: versions.rows().map { ($0.key, $0.text ?? "") })
    let wanted = indexes.filter { built[.string($0.name)] != "\($0.version)" }
    guard !store.isReadOnly else {
      guard let missing = wanted.first else { return }
      throw StoreError(
        .readOnly, "the index \(missing.name) of \(keyspace.name) is not built; open the store for writing")
    }
    for case .string(let name) in built.keys where !indexes.contains(where: { $0.name == name }) { try remove(name) }
    for index in wanted { try build(index) }
  }

  private func remove(_ name: String) throws {
    // Without its version the index counts as not built, whatever is left of it.
    if try versions.contains(name) { try versions.delete(name) }
    let entries = try store.keyspace("\(keyspace.name)/\(name)")
    if store.keyspaces.contains(entries) { try entries.drop() }
  }

  private func build(_ index: ValueIndex<Value>) throws {
    try remove(index.name)
    let stored = try StoredIndex(index, of: keyspace)
    var next = KeyRange.all
    while true {
      let rows = try keyspace.rows(next, limit: 1000)
      guard let last = rows.last else { break }
      do {
        try store.write(durability: .buffered) { batch in
          for row in rows {
            // A row that is changed meanwhile is read again.
            try keyspace.check(row.key, .sequence(row.sequence), in: &batch)
            for key in Set(index.keys(try coding.value(row.value, at: row.key, of: keyspace))) {
              try stored.check(key, of: row.key, in: batch)
              try stored.add(key, of: row.key, in: &batch)
            }
          }
        }
        next = .after(last.key)
      } catch let error as StoreError where error.code == .conflict {
        continue
      }
    }
    try versions.put("\(index.version)", at: index.name)
  }
}
