import CoreData

/// Apple's contexts ask for one value after the other.
extension RowNode {
  static let givesAllValues = false
}

extension NSManagedObjectContext {
  /// Apple's contexts take no rows with a fetch: the fault reads its row from the row cache.
  func object(of node: RowNode) -> NSManagedObject { object(with: node.objectID) }
}
