import Cairn
import Foundation
import IncrementalStore

/// Presents a snapshot of the engine as rows and entries.
final class CairnRowSnapshot: RowSnapshot {
  let snapshot: Snapshot
  private let engine: Engine
  private let url: URL

  init(_ engine: Engine, _ url: URL) {
    self.engine = engine
    self.url = url
    snapshot = engine.store.snapshot()
  }

  func close() { snapshot.close() }

  func row(_ reference: RowReference, in table: UInt32) throws -> StoredRow? {
    guard let keyspace = engine.keyspace(.table(table)) else { return nil }
    return try CairnFailure.translating(url) { () throws(StoreError) in
      try snapshot.row(Key(reference), in: keyspace).map { row in
        StoredRow(reference: reference, bytes: row.value, version: row.version, revision: row.sequence.rawValue)
      }
    }
  }

  func forEachRow(
    in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool
  ) throws {
    guard let keyspace = engine.keyspace(.table(table)) else { return }
    var row = StoredRow(reference: .integer(0), bytes: [], version: 0, revision: 0)
    try CairnFailure.translatingAny(url) {
      try snapshot.scan(first.map { .from(Key($0)) } ?? .all, in: keyspace) { key, value, stamp in
        row.reference = try RowReference(Key(encoded: key))
        row.bytes.removeAll(keepingCapacity: true)
        unsafe value.withUnsafeBytes { unsafe row.bytes.append(contentsOf: $0) }
        row.version = stamp.version
        row.revision = stamp.sequence.rawValue
        return try body(&row) ? .next : .stop
      }
    }
  }

  func count(in table: UInt32) throws -> Int {
    guard let keyspace = engine.keyspace(.table(table)) else { return 0 }
    return try CairnFailure.translating(url) { () throws(StoreError) in try snapshot.count(in: keyspace) }
  }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    guard let keyspace = engine.keyspace(.packs) else { return }
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

extension RowReference {
  /// Converts a key of the engine.
  fileprivate init(_ key: Key) throws {
    switch key {
    case .integer(let number): self = .integer(number)
    case .string(let text): self = .string(text)
    case .uuid(let uuid): self = .uuid(uuid)
    case .bytes, .tuple:
      throw StoreFailure.make(
        CocoaError.fileReadCorruptFile.rawValue, "A row of an object has the invalid key \(key).")
    }
  }
}
