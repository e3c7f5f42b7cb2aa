/// Changes that take effect together or not at all. Passed to the closure of ``Store/write(_:_:)-1zgq9``.
///
/// If a row is changed several times, the last change counts. Expectations are about the rows as they are before the
/// batch.
public struct Batch: ~Copyable {
  let buffer: BatchBuffer
  private let owner: UInt64
  private let isCompressing: Bool

  init(_ buffer: BatchBuffer, owner: UInt64, isCompressing: Bool) {
    self.buffer = buffer
    self.owner = owner
    self.isCompressing = isCompressing
  }

  /// Inserts or replaces a row.
  ///
  /// - Parameters:
  ///   - value: at most 1 GiB; compressed by this call, before the batch is committed.
  ///   - key: identifies the row; at most 65,536 bytes once encoded.
  ///   - keyspace: a keyspace of the same store.
  ///   - expectation: a condition on the row before the batch; if it does not hold, the batch is refused.
  /// - Throws: `keyTooLong`, `valueTooLarge`, `invalidArgument`, `foreignKeyspace`, `noMemory`.
  public mutating func put(
    _ value: [UInt8], at key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try unsafe value.withRawBytes { (value) throws(StoreError) in
      try unsafe key.withChecked { (encoded) throws(StoreError) in
        try unsafe add(.put, encoded, value, keyspace, expectation)
      }
    }
  }

  /// Inserts or replaces a row with the bytes of a span.
  public mutating func put(
    _ value: RawSpan, at key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try unsafe value.withUnsafeBytes { (value) throws(StoreError) in
      try unsafe key.withChecked { (encoded) throws(StoreError) in
        try unsafe add(.put, encoded, value, keyspace, expectation)
      }
    }
  }

  /// Inserts or replaces the row at `Key.bytes(key)`, without making an array of the key.
  public mutating func put(
    _ value: RawSpan, bytes key: RawSpan, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try unsafe value.withUnsafeBytes { (value) throws(StoreError) in
      try unsafe Key.withEncoded(bytes: key) { (encoded) throws(StoreError) in
        try unsafe add(.put, encoded, value, keyspace, expectation)
      }
    }
  }

  /// Inserts or replaces a row with the UTF-8 of a string.
  public mutating func put(
    _ value: String, at key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try put(Array(value.utf8), at: key, in: keyspace, expecting: expectation)
  }

  /// Deletes a row; has no effect if there is none.
  public mutating func delete(
    _ key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    try unsafe key.withChecked { (encoded) throws(StoreError) in
      try unsafe add(.delete, encoded, none, keyspace, expectation)
    }
  }

  /// Makes the batch depend on a row that it does not change.
  public mutating func check(
    _ key: Key, in keyspace: Keyspace, _ expectation: Expectation
  ) throws(StoreError) {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    try unsafe key.withChecked { (encoded) throws(StoreError) in
      try unsafe add(.check, encoded, none, keyspace, expectation)
    }
  }

  @inline(__always)
  private func add(
    _ kind: BatchBuffer.Kind, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ keyspace: Keyspace,
    _ expectation: Expectation
  ) throws(StoreError) {
    guard keyspace.owner == owner else {
      throw StoreError(.foreignKeyspace, "keyspace \(keyspace.name) belongs to another store")
    }
    guard key.count <= Format.maximumKeyLength else {
      throw StoreError(.keyTooLong, "a key has \(key.count) bytes, but at most \(Format.maximumKeyLength) are allowed")
    }
    guard value.count <= Format.maximumValueLength else {
      throw StoreError(
        .valueTooLarge, "a value has \(value.count) bytes, but at most \(Format.maximumValueLength) are allowed")
    }
    guard buffer.count + key.count + value.count < Format.maximumFrameLength else {
      throw StoreError(.batchTooLarge, "the batch takes more than 4 GiB")
    }
    try unsafe buffer.add(kind, keyspace.index, key, value, expecting: expectation, compressing: isCompressing)
  }
}

extension Key {
  /// Calls `body` with the encoding of the key, if that can be decoded again.
  @inline(__always)
  fileprivate func withChecked(_ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
    if case .tuple = self, nesting > Self.maximumNesting {
      throw StoreError(
        .invalidArgument, "tuples are nested \(nesting) deep, but may be only \(Self.maximumNesting) deep")
    }
    try unsafe withEncoded(body)
  }
}
