import IncrementalStore

/// What a store should contain, in plain collections.
struct Model {
  struct Row: Equatable, CustomStringConvertible {
    var bytes: [UInt8]
    var version: UInt64
    var revision: UInt64

    var description: String { "\(bytes.abbreviated), version \(version), revision \(revision)" }
  }

  private(set) var tables: [UInt32: [RowReference: Row]] = [:]
  /// In order.
  private(set) var entries: [[UInt8]] = []

  /// Applies a draft that was saved with a revision.
  mutating func apply(_ draft: Draft, revision: UInt64) {
    for (object, change) in draft.rows {
      let known = tables[object.entity]?[object.reference]
      let bytes: [UInt8]? =
        switch change {
        case .put(let bytes): bytes
        case .touch: known?.bytes
        case .delete: nil
        }
      tables[object.entity, default: [:]][object.reference] = bytes.map {
        Row(bytes: $0, version: (known?.version ?? 0) + 1, revision: revision)
      }
    }
    entries = Set(entries).subtracting(draft.removed).union(draft.added).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Saves what `fill` adds to a draft, in the store and here.
  mutating func save(to store: any RowStore, _ fill: (inout Draft) throws -> Void) throws {
    var draft = Draft()
    try fill(&draft)
    let revision = try store.save { try draft.changes($0) }
    apply(draft, revision: revision)
  }

  func row(_ reference: RowReference, in table: UInt32) -> Row? { tables[table]?[reference] }

  /// The rows of a table in order, from a reference on.
  func rows(in table: UInt32, from first: RowReference? = nil) -> [NamedRow] {
    (tables[table] ?? [:]).filter { first == nil || $0.key >= first! }.sorted { $0.key < $1.key }.map(NamedRow.init)
  }

  /// The entries of a range.
  func entries(from lower: [UInt8], before upper: [UInt8]?) -> [[UInt8]] {
    entries.filter { entry in
      !entry.lexicographicallyPrecedes(lower) && (upper.map { entry.lexicographicallyPrecedes($0) } ?? true)
    }
  }

  /// The entries that begin with a prefix, at most `limit`.
  func entries(beginningWith prefix: [UInt8], limit: Int = .max) -> [[UInt8]] {
    Array(entries.filter { $0.starts(with: prefix) }.prefix(limit))
  }
}

/// A row with its reference.
struct NamedRow: Equatable, CustomStringConvertible {
  let reference: RowReference
  let row: Model.Row

  init(_ reference: RowReference, _ row: Model.Row) { (self.reference, self.row) = (reference, row) }

  init(_ stored: StoredRow) { self.init(stored.reference, Model.Row(stored)) }

  var description: String { "[\(reference.name): \(row)]" }
}

extension Model.Row {
  init(_ stored: StoredRow) {
    self.init(bytes: stored.bytes, version: stored.version, revision: stored.revision)
  }
}
