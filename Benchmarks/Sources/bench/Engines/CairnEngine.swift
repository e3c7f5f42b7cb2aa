import Cairn

/// Cairn with its default options: an ordered keyspace, compression on, checksums verified on every read.
final class CairnEngine: Engine, @unchecked Sendable {
  private var store: Store?
  private var durability = Durability.buffered

  func open(at directory: String, _ durability: Durability) throws {
    self.durability = durability
    store = try Store.open(at: directory)
  }

  func makeSession() throws -> any Session {
    guard let store else { throw EngineError("Cairn", "the store is not open") }
    return CairnSession(
      store: store, keyspace: try store.keyspace("rows", order: .ordered),
      durability: durability == .synced ? .durable : .buffered)
  }

  func close() throws {
    try store?.close()
    store = nil
  }
}

private final class CairnSession: Session {
  private let store: Store
  private let keyspace: Keyspace
  private let durability: Cairn.Durability

  init(store: Store, keyspace: Keyspace, durability: Cairn.Durability) {
    self.store = store
    self.keyspace = keyspace
    self.durability = durability
  }

  func close() {}

  func put(_ pattern: AccessPattern, perCommit: Int) throws {
    var step = pattern.steps.lowerBound
    while step < pattern.steps.upperBound {
      let end = min(step + perCommit, pattern.steps.upperBound)
      try store.write(durability: durability) { batch in
        while step < end {
          let row = pattern.row(at: step)
          let value = UnsafeRawBufferPointer(start: pattern.value(of: row), count: ValuePool.valueSize)
          try withUnsafeBytes(of: Key(row: row)) { key in
            try keyspace.put(value.bytes, bytes: key.bytes, in: &batch)
          }
          step += 1
        }
      }
    }
  }

  /// Lookups see the latest state in either view: the store reads a single row without a snapshot.
  func get(_ pattern: AccessPattern, _ view: View) throws -> Reading {
    var reading = Reading()
    for step in pattern.steps {
      try withUnsafeBytes(of: Key(row: pattern.row(at: step))) { key in
        _ = try keyspace.withValue(bytes: key.bytes) { reading.add($0) }
      }
    }
    return reading
  }

  func scan() throws -> Reading {
    var reading = Reading()
    try store.read { snapshot in
      try keyspace.scan(at: snapshot) { _, value, _ in
        reading.add(value)
        return .next
      }
    }
    return reading
  }

  func seek(_ pattern: AccessPattern, next: Int) throws -> Reading {
    var reading = Reading()
    try store.read { snapshot in
      for step in pattern.steps {
        let key = withUnsafeBytes(of: Key(row: pattern.row(at: step))) { Array($0) }
        try keyspace.scan(.from(Cairn.Key.bytes(key)), limit: next + 1, at: snapshot) { _, value, _ in
          reading.add(value)
          return .next
        }
      }
    }
    return reading
  }
}

extension Reading {
  @inline(__always)
  fileprivate mutating func add(_ value: RawSpan) {
    value.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { add(start, count: bytes.count) }
    }
  }
}
