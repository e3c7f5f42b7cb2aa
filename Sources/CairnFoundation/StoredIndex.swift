import Cairn

/// The entries of an index, in a keyspace of their own.
///
/// An entry's key is a tuple: the columns of the value's key, and behind them, unless the index is unique, the key of the
/// row. The entry of a unique index has the encoded key of the row as its value; other entries have empty values.
struct StoredIndex<Value: Sendable>: Sendable {
  let index: ValueIndex<Value>
  let keyspace: Keyspace

  init(_ index: ValueIndex<Value>, of rows: Keyspace) throws(StoreError) {
    self.index = index
    keyspace = try rows.store.keyspace("\(rows.name)/\(index.name)")
  }

  /// The key of the row that an entry is about.
  func row(_ entry: Row) throws(StoreError) -> Key {
    if index.isUnique { return try Key(encoded: entry.value) }
    guard case .tuple(let elements) = entry.key, let last = elements.last else {
      throw StoreError(.malformed, "an entry of the index \(keyspace.name) is no tuple")
    }
    return last
  }

  func entry(_ key: Key, of row: Key) -> Key {
    guard !index.isUnique, case .tuple(let columns) = key.columns else { return key.columns }
    return .tuple(columns + [row])
  }

  func remove(_ key: Key, of row: Key, in batch: inout Batch) throws {
    let entry = entry(key, of: row)
    try keyspace.delete(entry, in: &batch)
    if index.isUnique { batch.noted[keyspace, default: [:]][entry] = .some(nil) }
  }

  /// - Throws: ``UniquenessViolation`` if the index is unique and another row has the key.
  func check(_ key: Key, of row: Key, in batch: borrowing Batch) throws {
    let entry = entry(key, of: row)
    guard index.isUnique else { return }
    // What this batch has done counts more than what is stored.
    let present = try batch.noted[keyspace]?[entry] ?? keyspace.get(entry)
    if let present, present != row.encoded {
      throw UniquenessViolation(index: index.name, key: key, holder: try Key(encoded: present))
    }
  }

  /// Adds the entry of a key that was checked.
  func add(_ key: Key, of row: Key, in batch: inout Batch) throws {
    let entry = entry(key, of: row)
    guard index.isUnique else { return try keyspace.put([UInt8](), at: entry, in: &batch) }
    let bytes = row.encoded
    let stored = try keyspace.row(entry)
    try keyspace.put(
      bytes, at: entry, expecting: stored.map { .sequence($0.sequence) } ?? .absent, in: &batch)
    batch.noted[keyspace, default: [:]][entry] = bytes
  }
}
