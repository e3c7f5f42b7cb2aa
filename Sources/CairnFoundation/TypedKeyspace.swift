public import Cairn

/// A keyspace of values of one type, with indexes that are kept in the same batch as the values.
///
///     struct Note: Codable, Sendable { var folder, title, slug: String }
///
///     let byFolder = ValueIndex<Note>("by folder") { Key($0.folder, $0.title) }
///     let bySlug = ValueIndex<Note>("by slug", isUnique: true) { $0.slug }
///     let notes = try TypedKeyspace<UUID, Note>("notes", in: store, indexes: [byFolder, bySlug])
///
///     try notes.put(note, at: id)
///     let inbox = try notes.values(byFolder, at: "inbox")
///     let one = try notes.value(bySlug, at: "shopping")
///
/// All who write to the keyspace have to give the same indexes: make one `TypedKeyspace` and share it. May be used from
/// any thread.
public struct TypedKeyspace<ID: KeyCodable, Value: Sendable>: Sendable {
  /// The rows: the bytes of the values, by the keys of their identifiers.
  public let keyspace: Keyspace
  let coding: ValueCoding<Value>
  let indexes: [StoredIndex<Value>]

  /// Makes the keyspace, if it does not exist, and its indexes.
  ///
  /// An index that is new, or has another version than before, is built: that reads all rows, in batches of 1,000.
  /// An index that is no longer given is dropped. In a store opened for reading, indexes have to be built already.
  ///
  /// - Parameters:
  ///   - name: the name of the keyspace. Each index is a keyspace of its own, `name/index`; `name/indexes` has their
  ///     versions.
  ///   - store: the store.
  ///   - coding: how values become bytes.
  ///   - indexes: indexes with different names.
  /// - Throws: ``UniquenessViolation`` if values have the same key in a new unique index, which is then not built;
  ///   errors of the store and of the coding.
  public init(
    _ name: String, in store: Store, coding: ValueCoding<Value>, indexes: [ValueIndex<Value>] = []
  ) throws {
    guard Set(indexes.map(\.name)).count == indexes.count else {
      throw StoreError(.invalidArgument, "two indexes of the keyspace \(name) have the same name")
    }
    let rows = try store.keyspace(name)
    try IndexBuilding(indexes, of: rows, coding).run()
    keyspace = rows
    self.coding = coding
    self.indexes = try indexes.map { index in try StoredIndex(index, of: rows) }
  }

  /// As ``init(_:in:coding:indexes:)``, with ``ValueCoding/json``.
  public init(_ name: String, in store: Store, indexes: [ValueIndex<Value>] = []) throws where Value: Codable {
    try self.init(name, in: store, coding: .json, indexes: indexes)
  }

  // MARK: Reading

  /// A value; nil if there is none.
  /// - Throws: `malformed` if the bytes of the row are no such value, also in all other methods that read.
  public func get(_ id: ID, at snapshot: Snapshot? = nil) throws -> Value? {
    try keyspace.get(id, at: snapshot).map { try decode($0, id.key) }
  }

  /// Whether there is a value.
  public func contains(_ id: ID, at snapshot: Snapshot? = nil) throws -> Bool {
    try keyspace.contains(id, at: snapshot)
  }

  /// The number of values.
  public func count(at snapshot: Snapshot? = nil) throws -> Int { try keyspace.count(at: snapshot) }

  /// The values of a range of identifiers, in their order.
  public func values(
    _ range: some KeyRangeConvertible = KeyRange.all, reverse: Bool = false, limit: Int = .max,
    at snapshot: Snapshot? = nil
  ) throws -> [(id: ID, value: Value)] {
    try keyspace.rows(range, reverse: reverse, limit: limit, at: snapshot).map { row in
      (try id(row.key), try decode(row.value, row.key))
    }
  }

  func decode(_ bytes: [UInt8], _ key: Key) throws(StoreError) -> Value {
    try coding.value(bytes, at: key, of: keyspace)
  }

  func id(_ key: Key) throws -> ID {
    guard let id = ID(key: key) else {
      throw StoreError(.malformed, "the key \(key) in \(keyspace.name) is no \(ID.self)")
    }
    return id
  }
}

/// Reading by an index.
extension TypedKeyspace {
  /// The values with a key in an index, or with keys that begin with a tuple, in the order of the index and then of
  /// their identifiers.
  public func values(
    _ index: ValueIndex<Value>, at key: some KeyConvertible, reverse: Bool = false, limit: Int = .max,
    in snapshot: Snapshot? = nil
  ) throws -> [(id: ID, value: Value)] {
    try values(index, .prefix(key.key.columns), reverse, limit, snapshot)
  }

  /// The values with keys of a range in an index, in the order of the index.
  public func values(
    _ index: ValueIndex<Value>, in range: some IndexRange, reverse: Bool = false, limit: Int = .max,
    in snapshot: Snapshot? = nil
  ) throws -> [(id: ID, value: Value)] {
    try values(index, range.entries, reverse, limit, snapshot)
  }

  /// The first value with a key in an index; nil if there is none. The only one, if the index is unique.
  public func value(
    _ index: ValueIndex<Value>, at key: some KeyConvertible, in snapshot: Snapshot? = nil
  ) throws -> (id: ID, value: Value)? {
    try values(index, at: key, limit: 1, in: snapshot).first
  }

  /// The number of values with a key in an index, or with keys that begin with a tuple. Takes time in proportion to it.
  public func count(
    _ index: ValueIndex<Value>, at key: some KeyConvertible, in snapshot: Snapshot? = nil
  ) throws -> Int {
    try stored(index).keyspace.count(.prefix(key.key.columns), at: snapshot)
  }

  private func values(
    _ index: ValueIndex<Value>, _ entries: KeyRange, _ reverse: Bool, _ limit: Int, _ snapshot: Snapshot?
  ) throws -> [(id: ID, value: Value)] {
    let snapshot = snapshot ?? keyspace.store.snapshot()
    let index = stored(index)
    let keys = try index.keyspace.rows(entries, reverse: reverse, limit: limit, at: snapshot).map(index.row)
    return try zip(keys, keyspace.get(many: keys, at: snapshot)).map { key, bytes in
      guard let bytes else {
        throw StoreError(.malformed, "the index \(index.keyspace.name) has an entry of \(key), which has no row")
      }
      return (try id(key), try decode(bytes, key))
    }
  }

  func stored(_ index: ValueIndex<Value>) -> StoredIndex<Value> {
    guard let found = indexes.first(where: { $0.index.name == index.name }) else {
      fatalError("The keyspace \(keyspace.name) was made without the index \(index.name).")
    }
    return found
  }
}
