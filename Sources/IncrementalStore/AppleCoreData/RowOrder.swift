import CoreData

/// Sorts rows by sort descriptors.
struct RowOrder {
  private let descriptors: [NSSortDescriptor]

  /// Nil if there is nothing to sort by.
  ///
  /// - Throws: 134060 for a key that does not lead to a single value that can be ordered.
  init?(_ request: NSFetchRequest<NSManagedObject>, of entity: NSEntityDescription) throws {
    guard let descriptors = request.sortDescriptors, !descriptors.isEmpty else { return nil }
    for descriptor in descriptors {
      guard Self.isOfObjects(descriptor) || Self.leadsToValue(descriptor.key ?? "", from: entity) else {
        throw StoreFailure.make(
          NSCoreDataError, "\(entity.name ?? "") cannot be sorted by \(descriptor.key ?? "").")
      }
    }
    self.descriptors = descriptors
  }

  /// Whether the descriptor sorts by the objects themselves, that is, by their references.
  private static func isOfObjects(_ descriptor: NSSortDescriptor) -> Bool {
    descriptor.key.map { ["self", "objectID"].contains($0) } ?? true
  }

  private static func leadsToValue(_ key: String, from entity: NSEntityDescription) -> Bool {
    var (entity, isToMany) = (entity, false)
    for part in key.split(separator: ".") {
      if part.hasPrefix("@") { return isToMany }
      switch entity.propertiesByName[String(part)] {
      case let attribute as NSAttributeDescription: return !attribute.isTransient && !isToMany
      case let relationship as NSRelationshipDescription:
        guard let destination = relationship.destinationEntity else { return false }
        (entity, isToMany) = (destination, isToMany || relationship.isToMany)
      default: return false
      }
    }
    return false
  }

  /// Whether one row comes before the other; nil if all descriptors treat them as equal.
  func precedes(_ one: RowObject, _ other: RowObject) -> Bool? {
    for descriptor in descriptors {
      if Self.isOfObjects(descriptor) {
        let (left, right) = (one.row.stored.reference, other.row.stored.reference)
        if left != right { return (left < right) == descriptor.ascending }
      } else {
        let order = descriptor.compare(one, to: other)
        if order != .orderedSame { return order == .orderedAscending }
      }
    }
    return nil
  }

  /// The elements in the order of their rows. Elements that all descriptors treat as equal keep their order.
  func sorted<Element>(_ elements: [Element], by row: (Element) -> RowObject?) -> [Element] {
    let rows = elements.map(row)
    let places = elements.indices.sorted { left, right in
      guard let one = rows[left], let other = rows[right] else { return left < right }
      return precedes(one, other) ?? (left < right)
    }
    return places.map { elements[$0] }
  }
}
