package import Cairn
import Foundation
import RowFormat

/// The rows and packs of a Core Data store: STORE-FORMAT.md, sections 1 and 7.
struct RowStructures: StructureSource {
  /// The table of the store itself.
  static let head: UInt32 = 0
  /// The name of the keyspace with the packs.
  static let packs = "entries"

  private let snapshot: Snapshot
  let keyspaces: [UInt32: Keyspace]
  /// How often the rows of each table were touched.
  private let touches: [UInt32: Keyspace]
  private let packs: Keyspace?
  /// Keyspaces with the name of a part of the store and an order that this part does not have.
  private let misordered: [Keyspace]
  let tables: [UInt32]
  private let watch: Watch?

  /// Nil for a store that is not a Core Data store: it has no `table 0` with metadata or a schema.
  init?(_ snapshot: Snapshot, _ keyspaces: [Keyspace], progress: InspectionProgress? = nil) throws(StoreError) {
    self.snapshot = snapshot
    watch = progress.map(Watch.init)
    let ordered = keyspaces.filter { $0.order == .ordered }
    packs = ordered.first { $0.name == Self.packs }
    self.keyspaces = Dictionary(
      ordered.compactMap { keyspace in Self.table(keyspace.name).map { ($0, keyspace) } },
      uniquingKeysWith: { first, _ in first })
    touches = Dictionary(
      keyspaces.lazy.filter { $0.order == .unordered }
        .compactMap { keyspace in Self.touchedTable(keyspace.name).map { ($0, keyspace) } },
      uniquingKeysWith: { first, _ in first })
    misordered = keyspaces.filter { keyspace in
      switch keyspace.order {
      case .ordered: Self.touchedTable(keyspace.name) != nil
      case .unordered: Self.table(keyspace.name) != nil || keyspace.name == Self.packs
      }
    }
    tables = self.keyspaces.keys.sorted()
    guard let head = self.keyspaces[Self.head] else { return nil }
    let hasMetadata = try head.contains(1, at: snapshot)
    let hasSchema = try head.contains(2, at: snapshot)
    guard hasMetadata || hasSchema else { return nil }
  }

  /// The table that a keyspace is; nil for any other keyspace.
  static func table(_ name: String) -> UInt32? { number(in: name, Self.name) }

  static func name(_ table: UInt32) -> String { "table \(table)" }

  /// The table whose touches are in a keyspace; nil for any other keyspace.
  static func touchedTable(_ name: String) -> UInt32? { number(in: name, nameOfTouches) }

  static func nameOfTouches(_ table: UInt32) -> String { "touches \(table)" }

  private static func number(in name: String, _ make: (UInt32) -> String) -> UInt32? {
    name.split(separator: " ").last.flatMap { UInt32($0) }.flatMap { name == make($0) ? $0 : nil }
  }

  func has(_ name: String) -> Bool {
    name == packs?.name || Self.table(name).map(tables.contains) ?? false
      || Self.touchedTable(name).map { touches[$0] != nil } ?? false
  }

  /// The version of an object and its last sequence, from those of its row: STORE-FORMAT.md, section 1.
  func stamp(_ row: RowStamp, of key: Key, in table: UInt32) throws(StoreError) -> RowStamp {
    guard let keyspace = touches[table], let touched = try keyspace.stamp(of: key, at: snapshot) else { return row }
    return RowStamp(version: row.version &+ touched.version, sequence: max(row.sequence, touched.sequence))
  }

  /// Calls `body` with everything that is wrong, and with references to objects that do not exist.
  ///
  /// - Throws: What the snapshot throws; `cancelled`.
  func forEachFinding(_ body: (Finding) -> Void) throws {
    if let watch {
      let rows = try keyspaces.values.reduce(0) { try $0 + $1.count(at: snapshot) }
      let touched = try touches.values.reduce(0) { try $0 + $1.count(at: snapshot) }
      // Most rows are read twice: first their references alone.
      watch.total = try 2 * (rows + touched) + (packs.map { try $0.count(at: snapshot) } ?? 0)
    }
    for keyspace in misordered {
      let order = keyspace.order == .ordered ? "unordered" : "ordered"
      body(
        Finding(kind: .object, severity: .damage, file: keyspace.name, key: nil, words: "the keyspace must be \(order)")
      )
    }
    for keyspace in [keyspaces, touches].flatMap(\.values).sorted(by: { $0.name < $1.name }) {
      try keyspace.scan(at: snapshot) { key, _, _ in
        try watch?.step()
        let reference = try Key(encoded: key)
        guard RowReference(reference) == nil else { return .next }
        body(
          Finding(
            kind: .object, severity: .damage, file: keyspace.name, key: reference,
            words: "an object's reference must be a number, a string or a UUID"))
        return .next
      }
    }
    try withoutActuallyEscaping(body) { body in
      try StructureChecker.run(self, normalized: \.precomposedStringWithCanonicalMapping) { body(Finding($0)) }
    }
  }

  /// Counts the rows and packs that have been read.
  private final class Watch {
    private let progress: InspectionProgress
    private var done = 0
    var total = 0

    init(_ progress: @escaping InspectionProgress) { self.progress = progress }

    func step() throws(StoreError) {
      done += 1
      guard done % 1024 != 0 || progress(min(done, total), total) else {
        throw StoreError(.cancelled, "checking was cancelled")
      }
    }
  }

  // MARK: Source

  func contains(_ reference: RowReference, in table: UInt32) throws -> Bool {
    guard let keyspace = keyspaces[table] else { return false }
    return try keyspace.contains(Key(reference), at: snapshot)
  }

  func row(_ reference: RowReference, in table: UInt32) throws -> [UInt8]? {
    guard let keyspace = keyspaces[table] else { return nil }
    return try keyspace.row(Key(reference), at: snapshot)?.value
  }

  func forEachRow(in table: UInt32, _ body: (RowReference, [UInt8]) throws -> Void) throws {
    guard let keyspace = keyspaces[table] else { return }
    try keyspace.scan(at: snapshot) { key, value, _ in
      try watch?.step()
      guard let reference = RowReference(try Key(encoded: key)) else { return .next }
      try body(reference, unsafe value.withUnsafeBytes { unsafe Array($0) })
      return .next
    }
  }

  func forEachTouch(_ body: (RowReference, UInt32, [UInt8]) throws -> Void) throws {
    for (table, keyspace) in touches.sorted(by: { $0.key < $1.key }) {
      try keyspace.scan(at: snapshot) { key, value, _ in
        try watch?.step()
        guard let reference = RowReference(try Key(encoded: key)) else { return .next }
        try body(reference, table, unsafe value.withUnsafeBytes { unsafe Array($0) })
        return .next
      }
    }
  }

  func forEachPack(from entry: [UInt8], _ body: ([UInt8], [UInt8]) throws -> Bool) throws {
    guard let packs else { return }
    var first = KeyRange.all
    try packs.scan(.through(Key.bytes(entry)), reverse: true, limit: 1, at: snapshot) { key, _, _ in
      first = .from(try Key(encoded: key))
      return .stop
    }
    try packs.scan(first, at: snapshot) { key, value, _ in
      try watch?.step()
      guard case .bytes(let bound) = try Key(encoded: key) else { return .next }
      return try body(bound, unsafe value.withUnsafeBytes { unsafe Array($0) }) ? .next : .stop
    }
  }
}

extension Store {
  /// Whether a keyspace contains rows or entries of Core Data.
  package func hasObjects(in keyspace: Keyspace) throws(StoreError) -> Bool {
    let snapshot = snapshot()
    defer { snapshot.close() }
    guard let structures = try RowStructures(snapshot, keyspaces) else { return false }
    return structures.has(keyspace.name)
  }
}

extension Key {
  init(_ reference: RowReference) {
    self =
      switch reference {
      case .integer(let number): .integer(number)
      case .string(let text): .string(text)
      case .uuid(let uuid): .uuid(uuid)
      }
  }
}

extension RowReference {
  /// Nil for a reference of a kind that objects do not have.
  init?(_ reference: Key) {
    switch reference {
    case .integer(let number): self = .integer(number)
    case .string(let text): self = .string(text)
    case .uuid(let uuid): self = .uuid(uuid)
    case .double, .bytes, .tuple: return nil
    }
  }
}

extension Finding {
  fileprivate init(_ finding: StructureFinding) {
    let kind: Kind =
      switch finding.kind {
      case .head: .head
      case .row: .object
      case .pack: .pack
      case .entry: .entry
      case .leadsNowhere: .leadsNowhere
      }
    let (keyspace, key): (String, Key?) =
      switch finding.place {
      case .table(let table): ("table \(table)", nil)
      case .row(let reference, let table): ("table \(table)", Key(reference))
      case .touches(let reference, let table): (RowStructures.nameOfTouches(table), Key(reference))
      case .pack(let bound): ("entries", .bytes(bound))
      }
    self.init(
      kind: kind, severity: finding.isDamage ? .damage : .note, file: keyspace, key: key, words: finding.words)
  }
}
