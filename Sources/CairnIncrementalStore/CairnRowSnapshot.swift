import Cairn
import Foundation
import IncrementalStore

/// Presents a snapshot of the engine as rows and entries.
final class CairnRowSnapshot: RowSnapshot {
  let snapshot: Snapshot
  private let engine: Engine
  private let url: URL
  /// The table that was asked for last, and whether any of its rows may have been touched.
  private var last: (number: UInt32, table: Engine.Table, isTouched: Bool)?

  init(_ engine: Engine, _ url: URL) {
    self.engine = engine
    self.url = url
    snapshot = engine.store.snapshot()
  }

  var state: UInt64? { snapshot.sequence.rawValue }

  func close() { snapshot.close() }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    try CairnFailure.translating(url) { () throws(StoreError) in
      let key = Key(reference)
      guard let table = try self.table(table), let found = try snapshot.stampedValue(of: key, in: table.rows) else {
        return nil
      }
      var stored = StoredRow(reference, found)
      stored.add(try touches(of: key, in: table))
      return stored
    }
  }

  func rows(_ references: [RowReference], in table: UInt32) throws -> [StoredRow?] {
    try CairnFailure.translating(url) { () throws(StoreError) in
      guard let table = try self.table(table) else { return references.map { _ in nil } }
      var rows: [StoredRow?] = []
      rows.reserveCapacity(references.count)
      let keys = references.map { Key($0) }
      let values = try snapshot.stampedValues(many: keys, in: table.rows)
      for place in references.indices {
        guard let found = values[place] else {
          rows.append(nil)
          continue
        }
        var stored = StoredRow(references[place], found)
        stored.add(try touches(of: keys[place], in: table))
        rows.append(stored)
      }
      return rows
    }
  }

  /// A table; nil if it has never had rows.
  private func table(_ number: UInt32) throws(StoreError) -> Engine.Table? {
    if let last, last.number == number { return last.table }
    let table = try engine.table(number)
    last = table.map { (number, $0, isTouched: !$0.touches.isBlank) }
    return table
  }

  /// The touches of a row of the table that was asked for last.
  private func touches(of key: Key, in table: Engine.Table) throws(StoreError) -> RowStamp? {
    last?.isTouched == false ? nil : try table.touches.stamp(of: key, at: snapshot)
  }

  func stamp(of reference: RowReference, in table: UInt32) throws -> (version: UInt64, revision: UInt64)? {
    try CairnFailure.translating(url) { () throws(StoreError) in
      let key = Key(reference)
      guard let table = try self.table(table), let stamp = try table.rows.stamp(of: key, at: snapshot) else {
        return nil
      }
      var stored = StoredRow(
        reference: reference, bytes: [], version: stamp.version, revision: stamp.sequence.rawValue)
      stored.add(try touches(of: key, in: table))
      return (stored.version, stored.revision)
    }
  }

  func forEachRow(
    in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool
  ) throws {
    try forEachRow(in: table, from: first, where: { _ in true }, body)
  }

  func forEachRow(
    in table: UInt32, from first: RowReference?, where test: (RawSpan) throws -> Bool,
    _ body: (inout StoredRow) throws -> Bool
  ) throws {
    var row = StoredRow(reference: .integer(0), bytes: [], version: 0, revision: 0)
    try CairnFailure.translatingAny(url) {
      guard let table = try self.table(table) else { return }
      let isTouched = try hasRows(table.touches)
      try table.rows.scan(first.map { .from(Key($0)) } ?? .all, at: snapshot) { encoded, value, stamp in
        guard try test(value) else { return .next }
        row.reference = try RowReference(encoded: encoded)
        row.bytes.removeAll(keepingCapacity: true)
        unsafe value.withUnsafeBytes { unsafe row.bytes.append(contentsOf: $0) }
        row.version = stamp.version
        row.revision = stamp.sequence.rawValue
        if isTouched { row.add(try table.touches.stamp(of: Key(row.reference), at: snapshot)) }
        return try body(&row) ? .next : .stop
      }
    }
  }

  func forEachReference(in table: UInt32, from first: RowReference?, _ body: (RowReference) throws -> Bool) throws {
    try CairnFailure.translatingAny(url) {
      guard let table = try self.table(table) else { return }
      try snapshot.scanKeys(first.map { .from(Key($0)) } ?? .all, in: table.rows) { encoded in
        try body(RowReference(encoded: encoded)) ? .next : .stop
      }
    }
  }

  /// Whether a keyspace has rows. Counting them can take as long as reading them all.
  private func hasRows(_ keyspace: Keyspace) throws -> Bool {
    var hasRows = false
    try keyspace.scan(limit: 1, at: snapshot) { _, _, _ in
      hasRows = true
      return .stop
    }
    return hasRows
  }

  func count(in table: UInt32) throws -> Int {
    try CairnFailure.translating(url) { () throws(StoreError) in
      try self.table(table).map { table throws(StoreError) in try table.rows.count(at: snapshot) } ?? 0
    }
  }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    guard let keyspace = engine.packs else { return }
    try CairnFailure.translatingAny(url) {
      let packs = PackWalk(snapshot, keyspace)
      if reverse {
        try packs.reversed(from: lower, before: upper, body)
      } else {
        try packs.forward(from: lower, before: upper, body)
      }
    }
  }
}

extension CairnRowSnapshot: EntrySkippingSnapshot {
  func skipEntries(
    _ most: Int, from lower: [UInt8], before upper: [UInt8]?, reverse: Bool
  ) throws -> (count: Int, bound: [UInt8])? {
    guard let keyspace = engine.packs else { return nil }
    return try CairnFailure.translatingAny(url) {
      let packs = PackWalk(snapshot, keyspace)
      return reverse
        ? try packs.skipBackward(most, from: lower, before: upper)
        : try packs.skipForward(most, from: lower, before: upper)
    }
  }
}

extension StoredRow {
  /// Makes a row that nobody has touched.
  init(_ reference: RowReference, _ found: (value: [UInt8], stamp: RowStamp)) {
    self.init(
      reference: reference, bytes: found.value, version: found.stamp.version, revision: found.stamp.sequence.rawValue)
  }

  /// Adds the saves that have touched the row.
  fileprivate mutating func add(_ touches: RowStamp?) {
    guard let touches else { return }
    version &+= touches.version
    revision = max(revision, touches.sequence.rawValue)
  }
}

extension RowReference {
  /// Converts a key of the engine.
  fileprivate init(encoded: RawSpan) throws {
    // Most keys are such numbers.
    if let number = Key.natural(encoded: encoded) {
      self = .integer(number)
      return
    }
    let key = try Key(encoded: encoded)
    switch key {
    case .integer(let number): self = .integer(number)
    case .string(let text): self = .string(text)
    case .uuid(let uuid): self = .uuid(uuid)
    case .double, .bytes, .tuple:
      throw StoreFailure.make(
        CocoaError.fileReadCorruptFile.rawValue, "A row of an object has the invalid key \(key).")
    }
  }
}
