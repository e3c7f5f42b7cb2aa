import Foundation

/// A row of the in-memory store as it is handed out, without copying anything.
final class InMemoryNode: NSIncrementalStoreNode {
  private let row: InMemoryRow

  init(_ row: InMemoryRow) {
    self.row = row
    super.init(objectID: row.objectID, withValues: [:], version: row.version)
  }

  override func value(for prop: NSPropertyDescription) -> Any? {
    row.value(of: prop.name) ?? (prop.isToOneRelationship ? NSNull() : nil)
  }
}

extension NSPropertyDescription {
  fileprivate var isToOneRelationship: Bool { (self as? NSRelationshipDescription)?.isToMany == false }
}
