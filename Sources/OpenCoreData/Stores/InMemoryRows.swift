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

  /// The rows of an entity in the order of their references, then those of its subentities if they are to be included.
  func all(of entity: NSEntityDescription, includingSubentities: Bool) -> [InMemoryRow] {
    let own = tables[entity.name ?? ""]?.ordered() ?? []
    return includingSubentities
      ? entity.subentities.reduce(own) { $0 + all(of: $1, includingSubentities: true) } : own
  }
}

/// The rows of one entity.
private struct InMemoryTable {
  /// In the order in which they were inserted, with holes where rows have been removed. That is the order of their
  /// references, unless an object was saved later than it got its identifier.
  private var rows: [InMemoryRow?] = []
  private var highest: ObjectReference?
  private var isOrdered = true
  private var places: [ObjectReference: Int] = [:]

  subscript(reference: ObjectReference) -> InMemoryRow? { places[reference].flatMap { rows[$0] } }

  /// The rows in the order of their references.
  mutating func ordered() -> [InMemoryRow] {
    if !isOrdered { arrange(rows.compactMap(\.self).sorted { $0.objectID.reference.precedes($1.objectID.reference) }) }
    return rows.compactMap(\.self)
  }

  mutating func set(_ row: InMemoryRow) {
    if let place = places[row.objectID.reference] {
      rows[place] = row
    } else {
      let reference = row.objectID.reference
      places[reference] = rows.count
      rows.append(row)
      if let highest, reference.precedes(highest) { isOrdered = false } else { highest = reference }
    }
  }

  mutating func remove(_ reference: ObjectReference) {
    guard let place = places.removeValue(forKey: reference) else { return }
    rows[place] = nil
    if rows.count > 2 * places.count + 16 { arrange(ordered()) }
  }

  private mutating func arrange(_ ordered: [InMemoryRow]) {
    (rows, isOrdered) = (ordered, true)
    for (place, row) in ordered.enumerated() { places[row.objectID.reference] = place }
  }
}
