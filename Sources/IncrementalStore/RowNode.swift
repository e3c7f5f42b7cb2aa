import Foundation
import OpenCoreData
import Synchronization

/// A row as it is handed to a context, and kept in the row cache: its bytes, which are read when a property is asked for.
final class RowNode: NSIncrementalStoreNode, ManagedRow {
  private let map: EntityMap
  private unowned let rows: RowAccess
  private let content: Mutex<StoredRow>

  init(_ row: StoredRow, of objectID: NSManagedObjectID, _ map: EntityMap, _ rows: RowAccess) {
    self.map = map
    self.rows = rows
    content = Mutex(row)
    super.init(objectID: objectID, withValues: [:], version: row.version)
  }

  var row: StoredRow { content.withLock { $0 } }

  /// Has another state of the same row.
  func replace(_ row: StoredRow) {
    content.withLock { $0 = row }
    update(withValues: [:], version: row.version)
  }

  override func value(for prop: NSPropertyDescription) -> Any? {
    guard let field = map.field(named: prop.name) else { return nil }
    // The row was checked before the node was made.
    let value = try? rows.value(of: field, in: row.bytes)
    return switch field.kind {
    case .attribute(let attribute): value?.anyValue(of: attribute.attributeType)
    case .toOne: value?.objectID ?? NSNull()
    }
  }

  func managedValues() throws -> [ManagedValue] { try rows.values(of: row.bytes, map) }
}
