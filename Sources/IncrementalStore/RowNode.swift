import CoreData

/// A row as it is handed to a context, and kept in the row cache: its bytes, which are read when a property is asked
/// for.
final class RowNode: NSIncrementalStoreNode {
  struct Content {
    var row: StoredRow
    var isChecked = false
    /// The values that were read to check the row, if the context takes them all, until it does, which is soon.
    var values: [ManagedValue]?
  }

  private let map: EntityMap
  private unowned let rows: RowAccess
  /// Guards `content`. Nodes share a few locks, for there are many nodes.
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

  /// Has another state of the same row.
  func replace(_ row: StoredRow) {
    lock.withLock { content = Content(row: row) }
  }

  /// Makes sure that the row is one of its entity, before it is handed out.
  ///
  /// - Throws: An error that says where the row is damaged.
  func check() throws {
    try lock.withLock {
      guard !content.isChecked else { return }
      let values = try values(of: content.row)
      if Self.givesAllValues { content.values = values }
      content.isChecked = true
    }
  }

  override var version: UInt64 { row.version }

  override func value(for prop: NSPropertyDescription) -> Any? {
    guard let field = map.field(named: prop.name) else { return nil }
    // The row was checked.
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
