import Foundation

/// The node of a row of the in-memory store. Copies nothing. Leaves out to-many relationships, which the reader of a
/// row may not need.
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
