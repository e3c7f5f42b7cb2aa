/// Rows one by one. Each method reads the latest state, or a snapshot of the same store.
extension Keyspace {
  /// A row's value; nil if there is no such row.
  /// - Throws: `corrupted` if the row's record is damaged; for a snapshot also `closed`, and `foreignKeyspace` if the
  ///   snapshot is of another store. So do all methods here.
  @inlinable
  public func get(_ key: some KeyConvertible, at snapshot: Snapshot? = nil) throws(StoreError) -> [UInt8]? {
    if let snapshot { return try snapshot.get(key.key, in: self) }
    return try store.get(key.key, in: self)
  }

  /// A row's value as another type, such as a string; nil if there is no such row.
  /// - Throws: `malformed` if the value is not of the type, such as bytes that are not UTF-8.
  @inlinable
  public func get<Value: RowValue>(
    _ key: some KeyConvertible, as type: Value.Type, at snapshot: Snapshot? = nil
  ) throws(StoreError) -> Value? {
    guard let bytes = try get(key, at: snapshot) else { return nil }
    return try Value(copying: bytes)
  }

  /// The values of many rows, nil for each row that does not exist, all of one moment. Looking them up together is
  /// several times faster than one by one.
  public func get(
    many keys: some Sequence<some KeyConvertible>, at snapshot: Snapshot? = nil
  ) throws(StoreError) -> [[UInt8]?] {
    let keys = keys.map(\.key)
    return try reading(snapshot) { (snapshot) throws(StoreError) in try snapshot.get(many: keys, in: self) }
  }

  /// A row with its version and sequence; nil if there is no such row.
  @inlinable
  public func row(_ key: some KeyConvertible, at snapshot: Snapshot? = nil) throws(StoreError) -> Row? {
    if let snapshot { return try snapshot.row(key.key, in: self) }
    return try store.row(key.key, in: self)
  }

  /// The version and sequence of a row, whose value is not read; nil if there is no such row.
  public func stamp(of key: some KeyConvertible, at snapshot: Snapshot? = nil) throws(StoreError) -> RowStamp? {
    try reading(snapshot) { (snapshot) throws(StoreError) in try snapshot.stamp(of: key.key, in: self) }
  }

  /// Whether there is such a row.
  @inlinable
  public func contains(_ key: some KeyConvertible, at snapshot: Snapshot? = nil) throws(StoreError) -> Bool {
    if let snapshot { return try snapshot.contains(key.key, in: self) }
    return try store.contains(key.key, in: self)
  }

  /// Calls `body` with a row's value in place; returns nil if there is no such row. The bytes are valid until `body`
  /// returns. `body` may read and write the store.
  @inlinable
  public func withValue<Result>(
    _ key: some KeyConvertible, at snapshot: Snapshot? = nil, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    var result: Result?
    if let snapshot {
      try unsafe snapshot.read(key.key, self) { result = unsafe try body($0.bytes) }
    } else {
      try unsafe store.read(key.key, self) { result = unsafe try body($0.bytes) }
    }
    return result
  }

  /// Calls `body` with the value of the row at `Key.bytes(key)`, without making an array of the key.
  @inlinable
  public func withValue<Result>(bytes key: RawSpan, _ body: (RawSpan) throws -> Result) throws -> Result? {
    var result: Result?
    try unsafe store.read(bytes: key, self) { result = unsafe try body($0.bytes) }
    return result
  }

  /// The history of a row, newest first, all of one moment: as many versions as ``retention`` says, or fewer if there
  /// have not been more. A deletion is one of them. Empty if there is no such row and no older version of it is
  /// retained.
  ///
  /// Copies all of them; takes time in proportion to their number, and does not wait. In a snapshot they stay while it is
  /// held, whatever is written and however the retention changes.
  public func history(
    of key: some KeyConvertible, at snapshot: Snapshot? = nil
  ) throws(StoreError) -> [RowVersion] {
    try reading(snapshot) { (snapshot) throws(StoreError) in try snapshot.history(of: key.key, in: self) }
  }

  /// Calls `body` with a snapshot: the one that is given, or one of the latest state.
  func reading<Result>(
    _ snapshot: Snapshot?, _ body: (Snapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if let snapshot { return try body(snapshot) }
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    return try body(snapshot)
  }
}

extension RowValue {
  @usableFromInline
  init(copying bytes: [UInt8]) throws(StoreError) {
    self = try unsafe bytes.withRawBytes { (bytes) throws(StoreError) in try unsafe Self(rowBytes: bytes.bytes) }
  }
}
