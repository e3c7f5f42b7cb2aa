package import Cairn

/// Finds the differences between two stores.
package struct StoreDiff {
  package enum Difference: Sendable {
    case keyspaceOnlyInFirst(String)
    case keyspaceOnlyInSecond(String)
    /// The order or the retention of the keyspace differs.
    case settings(keyspace: String, first: String, second: String)
    case onlyInFirst(keyspace: String, Row)
    case onlyInSecond(keyspace: String, Row)
    case changed(keyspace: String, first: Row, second: Row)
  }

  private let first: Store
  private let second: Store
  /// Whether versions and sequences have to be the same too.
  private let isExact: Bool

  package init(_ first: Store, _ second: Store, isExact: Bool) {
    self.first = first
    self.second = second
    self.isExact = isExact
  }

  /// Calls `body` with one difference after the other until it returns `.stop`: for each keyspace, first the rows of
  /// the first store, then the rows that only the second one has. Reads each row of both, and keeps two rows in memory.
  package func forEach(
    progress: InspectionProgress? = nil, _ body: (Difference) throws -> ScanStep
  ) throws {
    let (one, two) = (first.snapshot(), second.snapshot())
    let others = Dictionary(uniqueKeysWithValues: second.keyspaces.map { ($0.name, $0) })
    let names = Set(first.keyspaces.map(\.name))
    let total = first.statistics.rows + second.statistics.rows
    var done = 0
    func count() throws(StoreError) {
      done += 1
      guard done % 1024 != 0 || progress?(done, total) ?? true else {
        throw StoreError(.cancelled, "comparing was cancelled")
      }
    }

    for keyspace in first.keyspaces {
      let name = keyspace.name
      guard let other = others[name] else {
        guard try body(.keyspaceOnlyInFirst(name)) == .next else { return }
        continue
      }
      let settings = (keyspace.settings, other.settings)
      if settings.0 != settings.1,
        try body(.settings(keyspace: name, first: settings.0, second: settings.1)) == .stop
      {
        return
      }
      var goesOn = true
      try keyspace.scan(at: one) { key, value, stamp in
        try count()
        let row = try Row(key, value, stamp)
        if let found = try other.row(row.key, at: two) {
          guard row.value != found.value || (isExact && row != found) else { return .next }
          goesOn = try body(.changed(keyspace: name, first: row, second: found)) == .next
        } else {
          goesOn = try body(.onlyInFirst(keyspace: name, row)) == .next
        }
        return goesOn ? .next : .stop
      }
      guard goesOn else { return }
      try other.scan(at: two) { key, value, stamp in
        try count()
        let row = try Row(key, value, stamp)
        guard try !keyspace.contains(row.key, at: one) else { return .next }
        goesOn = try body(.onlyInSecond(keyspace: name, row)) == .next
        return goesOn ? .next : .stop
      }
      guard goesOn else { return }
    }
    for keyspace in second.keyspaces where !names.contains(keyspace.name) {
      guard try body(.keyspaceOnlyInSecond(keyspace.name)) == .next else { return }
    }
  }
}

extension Keyspace {
  fileprivate var settings: String { "\(order), keeps \(retention.count)" }
}

extension Row {
  fileprivate init(_ encoded: RawSpan, _ value: RawSpan, _ stamp: RowStamp) throws(StoreError) {
    let key: Key
    do throws(MalformedKey) { key = try Key(validating: encoded) } catch {
      throw StoreError(.corrupted, "a key is not encoded correctly")
    }
    self.init(
      key: key, value: unsafe value.withUnsafeBytes { unsafe Array($0) }, version: stamp.version,
      sequence: stamp.sequence)
  }
}
