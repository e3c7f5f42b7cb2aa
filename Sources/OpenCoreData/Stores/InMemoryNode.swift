import Foundation

/// A row of the in-memory store as it is handed out, without copying anything. To-many relationships are left out: whoever reads a row
/// need not have them.
final class InMemoryNode: NSIncrementalStoreNode {
  private let row: InMemoryRow

  init(_ row: InMemoryRow) {
    self.row = row
    super.init(objectID: row.objectID, withValues: [:], version: row.version)
  }

  override func value(for prop: NSPropertyDescription) -> Any? {
    guard let relationship = prop as? NSRelationshipDescription else { return row.value(of: prop.name) }
    return relationship.isToMany ? nil : row.value(of: prop.name) ?? NSNull()
  }
}
