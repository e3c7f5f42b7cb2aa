/// Changes that take effect together or not at all. Passed to the closure of
/// ``Store/write(durability:_:)-(_,(Batch)->Void)``, in which keyspaces put changes into it.
///
///     try store.write { batch in
///       try planets.put("the red one", at: "Mars", in: &batch)
///       try moons.delete(["Mars", "Phobos"], in: &batch)
///     }
///
/// If a row is changed several times, the last change counts. Expectations are about the rows as they are before the
/// batch.
public struct Batch: ~Copyable {
  let buffer: BatchBuffer
  private let owner: UInt64
  private let isCompressing: Bool
  /// What the batch has put so far, nil for what it has deleted, for those who note that here: an index has to know the
  /// present value of a row that is changed twice.
  package var noted: [Keyspace: [Key: [UInt8]?]] = [:]

  /// Why the batch must not be committed, although its closure may have gone on.
  package var failure: (any Error)?

  init(_ buffer: BatchBuffer, owner: UInt64, isCompressing: Bool) {
    self.buffer = buffer
    self.owner = owner
    self.isCompressing = isCompressing
  }

  package mutating func put(
    _ value: [UInt8], at key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try unsafe value.withRawBytes { (value) throws(StoreError) in
      try unsafe key.withChecked { (encoded) throws(StoreError) in
        try unsafe add(.put, encoded, value, keyspace, expectation)
      }
    }
  }

  @usableFromInline
  package mutating func put(
    _ value: RawSpan, at key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try unsafe value.withUnsafeBytes { (value) throws(StoreError) in
      try unsafe key.withChecked { (encoded) throws(StoreError) in
        try unsafe add(.put, encoded, value, keyspace, expectation)
      }
    }
  }

  @usableFromInline
  package mutating func put(
    _ value: RawSpan, bytes key: RawSpan, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try unsafe value.withUnsafeBytes { (value) throws(StoreError) in
      try unsafe Key.withEncoded(bytes: key) { (encoded) throws(StoreError) in
        try unsafe add(.put, encoded, value, keyspace, expectation)
      }
    }
  }

  package mutating func put(
    _ value: String, at key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    try put(Array(value.utf8), at: key, in: keyspace, expecting: expectation)
  }

  @usableFromInline
  package mutating func delete(
    _ key: Key, in keyspace: Keyspace, expecting expectation: Expectation = .anything
  ) throws(StoreError) {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    try unsafe key.withChecked { (encoded) throws(StoreError) in
      try unsafe add(.delete, encoded, none, keyspace, expectation)
    }
  }

  /// Deletes the row with an encoded key.
  mutating func delete(encoded key: UnsafeRawBufferPointer, in keyspace: Keyspace) throws(StoreError) {
    try unsafe add(.delete, key, UnsafeRawBufferPointer(start: nil, count: 0), keyspace, .anything)
  }

  @usableFromInline
  package mutating func check(
    _ key: Key, in keyspace: Keyspace, _ expectation: Expectation
  ) throws(StoreError) {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    try unsafe key.withChecked { (encoded) throws(StoreError) in
      try unsafe add(.check, encoded, none, keyspace, expectation)
    }
  }

  /// Has the batch fail with `conflict` if anything was committed since a snapshot was taken, which takes the place
  /// of an expectation for each row that was read from the snapshot.
  package mutating func expectNothing(since snapshot: Snapshot) { buffer.expectedNewest = snapshot.sequence }

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
