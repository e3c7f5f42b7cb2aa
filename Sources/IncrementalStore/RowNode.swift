import CoreData

/// A row as a context gets it and as the row cache keeps it: its bytes, which are decoded when a property is read.
final class RowNode: NSIncrementalStoreNode {
  struct Content {
    var row: StoredRow
    /// Whether the bytes of the row tell that all its fields can be decoded; nil if the row has not been checked.
    var meetsRules: Bool?
    /// The values that were decoded to check the row. They are kept until the context takes them, which is soon, and
    /// only if it takes all values of a row at once.
    var values: [ManagedValue]?
  }

  private let map: EntityMap
  unowned let rows: RowAccess
  /// Guards `content`. All nodes share 16 locks, since there are many nodes.
  var lock: NSLock { Self.locks[objectID.hash & (Self.locks.count - 1)] }
  var content: Content

  private static let locks = (0..<16).map { _ in NSLock() }

  init(_ row: StoredRow, of objectID: NSManagedObjectID, _ map: EntityMap, _ rows: RowAccess) {
    self.map = map
    self.rows = rows
    content = Content(row: row)
    super.init(objectID: objectID, withValues: [:], version: row.version)
  }

  var row: StoredRow { lock.withLock { content.row } }

  /// Replaces the row with another state of it.
  func replace(_ row: StoredRow) {
    lock.withLock { content = Content(row: row) }
  }

  /// Raises the version of the row, whose bytes stay. Returns false if the row has another revision than `former`.
  func touch(from former: UInt64, version: UInt64, _ revision: UInt64) -> Bool {
    lock.withLock {
      guard content.row.revision == former else { return false }
      (content.row.version, content.row.revision) = (version, revision)
      return true
    }
  }

  /// Checks, before the row is handed out, that all its fields can be decoded as values of the entity.
  ///
  /// - Throws: An error that says where the row is damaged.
  func check() throws { try lock.withLock { try checkContent() } }

  /// As ``check()``, by a caller that has the lock.
  func checkContent() throws {
    guard content.meetsRules == nil else { return }
    let meetsRules = map.rules.map { FieldReader.meets($0, content.row.bytes) } ?? false
    if !meetsRules {
      let values = try values(of: content.row)
      if Self.givesAllValues { content.values = values }
    }
    content.meetsRules = meetsRules
  }

  override var version: UInt64 { row.version }

  override func value(for prop: NSPropertyDescription) -> Any? {
    guard let field = map.field(named: prop.name) else { return nil }
    // `check` has already decoded the row once.
    let value = try? rows.value(of: field, in: row.bytes)
    return switch field.kind {
    case .attribute(let attribute): value?.anyValue(of: attribute.attributeType)
    case .toOne: value?.objectID ?? NSNull()
    }
  }

  func values(of row: StoredRow) throws -> [ManagedValue] {
    try StoreFailure.reading("The row of \(objectID)") { try rows.values(of: row.bytes, map) }
  }
}
