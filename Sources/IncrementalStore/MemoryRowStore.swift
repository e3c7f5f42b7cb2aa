import Foundation

/// A minimal row store in memory, as an example.
///
/// A snapshot shares everything with the store until a save changes something; the save then copies all rows of the
/// tables that it changes, and the list of entries if it changes entries.
public final class MemoryRowStore: RowStore, @unchecked Sendable {
  /// The kind of the references that the store makes.
  public let referenceKind: RowReferenceKind
  private let turn = NSLock()
  private let lock = NSLock()
  private var content = MemoryContent()
  private var lastReference: Int64 = 0

  /// An empty store.
  public init(referenceKind: RowReferenceKind = .integer) { self.referenceKind = referenceKind }

  /// Takes a snapshot in constant time; the next save copies the tables that it changes.
  public func snapshot() -> any RowSnapshot { lock.withLock { MemorySnapshot(content) } }

  /// Applies the changes in memory; they do not outlive the process.
  public func save(_ changes: (any RowSnapshot) throws -> RowChanges) throws -> UInt64 {
    try turn.withLock {
      let changes = try changes(snapshot())
      return lock.withLock { content.apply(changes) }
    }
  }

  /// Returns numbers or strings made from a counter, or random UUIDs.
  public func reserveReferences(_ count: Int) -> [RowReference] {
    lock.withLock {
      (0..<count).map { _ in
        lastReference += 1
        return switch referenceKind {
        case .integer: .integer(lastReference)
        case .string: .string("object \(lastReference)")
        case .uuid: .uuid(.random(in: .min ... .max))
        }
      }
    }
  }

  /// Does nothing: the rows live as long as the store.
  public func close() {}
}

private struct MemoryContent {
  private struct Table {
    var rows: [RowReference: StoredRow] = [:]
  }

  private var tables: [UInt32: Table] = [:]
  private var entries: [[UInt8]] = []
  private var revision: UInt64 = 0

  func row(_ reference: RowReference, in table: UInt32) -> StoredRow? { tables[table]?.rows[reference] }

  func rows(in table: UInt32) -> [StoredRow] {
    (tables[table]?.rows.values).map { $0.sorted { $0.reference < $1.reference } } ?? []
  }

  func count(in table: UInt32) -> Int { tables[table]?.rows.count ?? 0 }

  func entries(from lower: [UInt8], before upper: [UInt8]?) -> ArraySlice<[UInt8]> {
    let start = place(of: lower)
    return entries[start..<max(start, upper.map(place) ?? entries.count)]
  }

  mutating func apply(_ changes: RowChanges) -> UInt64 {
    revision += 1
    for change in changes.rows {
      let known = row(change.reference, in: change.table)
      let bytes: [UInt8]? =
        switch change.change {
        case .put(let bytes): bytes
        case .touch: known?.bytes
        case .delete: nil
        }
      tables[change.table, default: Table()].rows[change.reference] = bytes.map { bytes in
        StoredRow(reference: change.reference, bytes: bytes, version: (known?.version ?? 0) + 1, revision: revision)
      }
    }
    for entry in changes.removedEntries {
      let place = place(of: entry)
      if place < entries.count, entries[place] == entry { entries.remove(at: place) }
    }
    for entry in changes.addedEntries {
      let place = place(of: entry)
      if place == entries.count || entries[place] != entry { entries.insert(entry, at: place) }
    }
    return revision
  }

  /// The place of the first entry that is not less than `entry`.
  private func place(of entry: [UInt8]) -> Int {
    var range = 0..<entries.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      let isBefore = entries[middle].lexicographicallyPrecedes(entry)
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}

private final class MemorySnapshot: RowSnapshot {
  private let content: MemoryContent

  init(_ content: MemoryContent) { self.content = content }

  func row(_ reference: RowReference, in table: UInt32) -> StoredRow? { content.row(reference, in: table) }

  func forEachRow(
    in table: UInt32, from first: RowReference?, _ body: (inout StoredRow) throws -> Bool
  ) throws {
    for var row in content.rows(in: table) where first.map({ row.reference >= $0 }) ?? true {
      guard try body(&row) else { return }
    }
  }

  func count(in table: UInt32) -> Int { content.count(in: table) }

  func forEachEntry(
    from lower: [UInt8], before upper: [UInt8]?, reverse: Bool, _ body: ([UInt8]) throws -> Bool
  ) throws {
    let entries = content.entries(from: lower, before: upper)
    for place in entries.indices {
      let place = reverse ? entries.endIndex - 1 - (place - entries.startIndex) : place
      guard try body(entries[place]) else { return }
    }
  }
}
