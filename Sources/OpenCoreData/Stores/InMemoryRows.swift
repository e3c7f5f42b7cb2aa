import Foundation

/// The rows of the in-memory store.
final class InMemoryRows {
  private var tables: [String: InMemoryTable] = [:]

  subscript(objectID: NSManagedObjectID) -> InMemoryRow? {
    tables[objectID.entity.name ?? ""]?[objectID.reference]
  }

  /// The row in the form that predicates compare; only the identifier if there is no row.
  func predicateValue(of objectID: NSManagedObjectID) -> PredicateValue { .object(self[objectID] ?? objectID) }

  func set(_ row: InMemoryRow) { tables[row.objectID.entity.name ?? "", default: InMemoryTable()].set(row) }

  func remove(_ objectID: NSManagedObjectID) { tables[objectID.entity.name ?? ""]?.remove(objectID.reference) }

  /// The rows of an entity in the order in which they were inserted, then those of its subentities if they are to be
  /// included.
  func all(of entity: NSEntityDescription, includingSubentities: Bool) -> [InMemoryRow] {
    let own = tables[entity.name ?? ""]?.all ?? []
    return includingSubentities
      ? entity.subentities.reduce(own) { $0 + all(of: $1, includingSubentities: true) } : own
  }
}

/// The rows of one entity.
private struct InMemoryTable {
  /// In the order in which they were inserted, with holes where rows have been removed.
  private var rows: [InMemoryRow?] = []
  private var places: [ObjectReference: Int] = [:]

  subscript(reference: ObjectReference) -> InMemoryRow? { places[reference].flatMap { rows[$0] } }

  var all: [InMemoryRow] { rows.compactMap { $0 } }

  mutating func set(_ row: InMemoryRow) {
    if let place = places[row.objectID.reference] {
      rows[place] = row
    } else {
      places[row.objectID.reference] = rows.count
      rows.append(row)
    }
  }

  mutating func remove(_ reference: ObjectReference) {
    guard let place = places.removeValue(forKey: reference) else { return }
    rows[place] = nil
    if rows.count > 2 * places.count + 16 { closeHoles() }
  }

  private mutating func closeHoles() {
    rows = rows.filter { $0 != nil }
    for (place, row) in rows.enumerated() {
      if let row { places[row.objectID.reference] = place }
    }
  }
}
