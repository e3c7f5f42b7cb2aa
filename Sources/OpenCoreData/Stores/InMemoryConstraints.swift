import Foundation

/// The uniqueness constraints of the in-memory store, and for each constraint the values that rows have and the rows
/// that have them.
///
/// A constraint holds for the rows of its entity and of the subentities together. Values are compared as a predicate's
/// `==` does. A row without a value for one of the attributes conflicts with no other row.
///
/// A save takes time proportional to the number of changed rows of entities with constraints, however many rows there
/// are.
final class InMemoryConstraints {
  private var constraints: [String: [Constraint]] = [:]

  /// Updates the constraints for a save that is about to change the rows.
  ///
  /// - Parameters:
  ///   - changes: the inserted and updated rows, each with its object, if there is one. If several objects have the same
  ///     values, the first of them is the first of the conflict.
  ///   - rows: the rows before the save.
  /// - Throws: 133021 with all conflicts. The constraints are then unchanged.
  func save(
    _ changes: [(object: NSManagedObject?, row: InMemoryRow)], deleted: [NSManagedObjectID],
    replacing rows: InMemoryRows
  ) throws {
    var parts: [Constraint.Part] = []
    var places: [ObjectIdentifier: Int] = [:]
    func add(_ id: NSManagedObjectID, _ change: (NSManagedObject?, InMemoryRow)?) {
      let constraints = constraints(of: id.entity)
      guard !constraints.isEmpty else { return }
      let old = rows[id]
      for constraint in constraints {
        let place = places[ObjectIdentifier(constraint)] ?? parts.count
        if place == parts.count {
          places[ObjectIdentifier(constraint)] = place
          parts.append(Constraint.Part(constraint))
        }
        parts[place].add(old: old, new: change)
      }
    }
    for id in deleted { add(id, nil) }
    for change in changes { add(change.row.objectID, change) }
    let conflicts = parts.flatMap { $0.conflicts(rows) }
    guard conflicts.isEmpty else { throw ConflictCheck.error(conflicts) }
    for part in parts { part.apply() }
  }

  /// A combination of values that no two rows may share.
  struct Key: Hashable {
    fileprivate let constraint: ObjectIdentifier
    fileprivate let values: [PredicateValue]
  }

  /// The keys of a row, one for each constraint for which it has values.
  func keys(of row: InMemoryRow) -> [Key] {
    constraints(of: row.objectID.entity).compactMap { constraint in
      constraint.key(of: row).map { Key(constraint: ObjectIdentifier(constraint), values: $0) }
    }
  }

  /// The row of an entity, or of one that shares its constraints, that has a key; nil if there is none.
  func holder(of key: Key, _ entity: NSEntityDescription) -> NSManagedObjectID? {
    constraints(of: entity).first { ObjectIdentifier($0) == key.constraint }?.holders[key.values]
  }

  /// The constraints that an entity declares and inherits.
  private func constraints(of entity: NSEntityDescription) -> [Constraint] {
    let name = entity.name ?? ""
    if let known = constraints[name] { return known }
    let inherited = entity.superentity.map(constraints(of:)) ?? []
    var own: [Constraint] = []
    for names in entity.uniquenessConstraintNames
    where !names.isEmpty && !(inherited + own).contains(where: { $0.names == names }) {
      own.append(Constraint(names))
    }
    constraints[name] = inherited + own
    return inherited + own
  }
}

/// One constraint, and the rows that have values for it.
private final class Constraint {
  let names: [String]
  private(set) var holders: [[PredicateValue]: NSManagedObjectID] = [:]

  init(_ names: [String]) { self.names = names }

  /// The values of a row; nil if one of them is missing or does not equal itself.
  func key(of row: InMemoryRow) -> [PredicateValue]? {
    let values = names.map { row.layout.slot(of: $0).map(row.predicateValue) ?? .null }
    return values.allSatisfy { !$0.isNull && $0 == $0 } ? values : nil
  }

  /// The changes that a save makes to a constraint.
  struct Part {
    private let constraint: Constraint
    /// The values that rows give up.
    private var left: [[PredicateValue]] = []
    /// The objects that get values, grouped by the values; the groups are in the order of their first objects.
    private var taken: [(key: [PredicateValue], takers: [(object: NSManagedObject?, row: InMemoryRow)])] = []
    private var places: [[PredicateValue]: Int] = [:]

    init(_ constraint: Constraint) { self.constraint = constraint }

    mutating func add(old: InMemoryRow?, new: (object: NSManagedObject?, row: InMemoryRow)?) {
      let oldKey = old.flatMap(constraint.key)
      let newKey = new.flatMap { constraint.key(of: $0.row) }
      guard oldKey != newKey else { return }
      if let oldKey { left.append(oldKey) }
      guard let newKey, let new else { return }
      if let place = places[newKey] {
        taken[place].takers.append(new)
      } else {
        places[newKey] = taken.count
        taken.append((newKey, [new]))
      }
    }

    func conflicts(_ rows: InMemoryRows) -> [NSConstraintConflict] {
      let left = Set(left)
      return taken.compactMap { key, takers in
        let holder = left.contains(key) ? nil : constraint.holders[key]
        guard holder != nil || takers.count > 1 else { return nil }
        let objects = takers.compactMap(\.object)
        return NSConstraintConflict(
          constraint: constraint.names,
          database: holder.flatMap { objects.first?.managedObjectContext?.object(with: $0) },
          databaseSnapshot: holder.flatMap { rows[$0]?.snapshot }, conflicting: objects,
          conflictingSnapshots: objects.map { $0.snapshotValues ?? [:] })
      }
    }

    func apply() {
      for key in left { constraint.holders[key] = nil }
      for (key, takers) in taken { constraint.holders[key] = takers.first?.row.objectID }
    }
  }
}
