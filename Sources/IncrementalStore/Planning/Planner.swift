import CoreData

/// Finds access paths for predicates from the model and the schema. It reads nothing.
///
/// A part of a predicate for which it knows no path makes the others no less useful in an `AND`, and useless in an
/// `OR`. It knows none for `NOT`.
struct Planner {
  /// The entity of which objects are fetched, with or without its subentities.
  let map: EntityMap
  let access: RowAccess
  let indexes: IndexPlanner

  init(_ map: EntityMap, _ source: RowSource) {
    self.map = map
    access = source.rows
    indexes = IndexPlanner(map: map, access: source.rows, indexes: source.indexes.ready(for: map.number))
  }

  /// Nil if all rows must be read.
  func path(for predicate: NSPredicate?) -> AccessPath? {
    switch predicate {
    case let compound as NSCompoundPredicate where compound.isDisjunction:
      let paths = compound.parts.compactMap { path(for: $0) }
      return paths.count == compound.parts.count ? .union(paths) : nil
    case let predicate?: return path(forAll: predicate.conjuncts)
    case nil: return nil
    }
  }

  /// The reference before which no row satisfies a predicate, for `SELF > %@` and `SELF >= %@`; nil if there is none.
  func first(for predicate: NSPredicate?) -> RowReference? {
    switch predicate {
    case let comparison as NSComparisonPredicate: first(for: comparison)
    case let compound as NSCompoundPredicate:
      compound.conjuncts.compactMap { ($0 as? NSComparisonPredicate).flatMap(first) }.max()
    default: nil
    }
  }

  private func first(for comparison: NSComparisonPredicate) -> RowReference? {
    guard [.greaterThan, .greaterThanOrEqualTo].contains(comparison.predicateOperatorType),
      comparison.comparisonPredicateModifier == .direct, comparison.leftExpression.isIdentity
    else { return nil }
    return comparison.rightExpression.constant.flatMap { access.reference(ofConstant: $0) }?.reference
  }

  /// The path for predicates that must all be satisfied.
  private func path(forAll parts: [NSPredicate]) -> AccessPath? {
    let sections = indexes.sections(for: parts)
    if let exact = sections.first(where: \.isExact) { return .indexed(exact) }
    let comparisons = parts.compactMap { $0 as? NSComparisonPredicate }
    let memberships = comparisons.compactMap(Membership.init)
    let keyPaths = keyPaths(for: memberships)
    // No path is shorter than one to the holder of a key.
    if let single = keyPaths.first(where: \.isSingleKey) { return single }
    var paths = sections.map { AccessPath.indexed($0) }
    for membership in memberships { if let path = objectPath(for: membership) { paths.append(path) } }
    paths += keyPaths
    for part in parts where part.isDisjunction { if let path = path(for: part) { paths.append(path) } }
    for comparison in comparisons {
      if let path = relatedPath(for: comparison) ?? memberPath(for: comparison) { paths.append(path) }
    }
    return parts.count == 1 && paths.count == 1 ? paths[0] : paths.isEmpty ? nil : .shortest(paths)
  }

  // MARK: Objects

  private func objectPath(for membership: Membership) -> AccessPath? {
    guard let objects = membership.ids.map(objects) ?? objects(membership.constants) else { return nil }
    switch membership.subject {
    case .identity: return .objects(objects)
    case .value(let key):
      guard let inverse = inverse(ofToOne: key) else { return nil }
      return path(from: objects, inverse)
    case .element(let key):
      guard let inverse = inverse(ofToMany: key) else { return nil }
      return path(from: objects, inverse)
    }
  }

  private func path(from objects: [ObjectReference], _ inverse: AccessPath.Inverse) -> AccessPath {
    if objects.count == 1 { return .opposites(of: objects[0], inverse) }
    return .union(objects.map { .opposites(of: $0, inverse) })
  }

  /// The objects among constants that are objects or identifiers. An object that is not saved is none of the store's,
  /// so that it satisfies nothing. Nil if one of the constants is anything else.
  private func objects(_ constants: [Any?]) -> [ObjectReference]? {
    let ids = constants.compactMap(NSManagedObjectID.identifying)
    return ids.count == constants.count ? objects(ids) : nil
  }

  private func objects(_ ids: [NSManagedObjectID]) -> [ObjectReference]? {
    var objects: [ObjectReference] = []
    objects.reserveCapacity(ids.count)
    for id in ids {
      if let object = access.reference(ofOwn: id) { objects.append(object) } else if !id.isTemporaryID { return nil }
    }
    return objects
  }

  private func inverse(ofToOne key: String) -> AccessPath.Inverse? {
    guard case .toOne(let relationship, let end) = map.field(named: key)?.kind else { return nil }
    return inverse(of: relationship, end)
  }

  private func inverse(ofToMany key: String) -> AccessPath.Inverse? {
    guard let set = map.set(named: key), let relationship = map.entity.relationshipsByName[key] else { return nil }
    return inverse(of: relationship, set.inverse)
  }

  /// Nil if the two relationships are not the inverses of each other, or if the store does not have the inverse, which
  /// a read-only store may lack.
  private func inverse(
    of relationship: NSRelationshipDescription, _ end: EntityMap.Inverse
  ) -> AccessPath.Inverse? {
    guard let inverse = relationship.inverseRelationship,
      inverse.inverseRelationship?.name == relationship.name, let number = end.number, number < Schema.highestNextNumber
    else { return nil }
    return AccessPath.Inverse(relationship: inverse, end: end)
  }

  // MARK: Related objects

  /// The path for a comparison of a value of related objects, as in `project.name == 'x'` and `ANY labels.name == 'x'`.
  private func relatedPath(for comparison: NSComparisonPredicate) -> AccessPath? {
    guard let path = comparison.leftExpression.path, !path.utf8.contains(UInt8(ascii: "@")),
      let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")), comparison.isFalseForNil
    else { return nil }
    let (key, rest) = (String(path[..<dot]), String(path[path.index(after: dot)...]))
    let isToMany = comparison.comparisonPredicateModifier == .any
    guard comparison.comparisonPredicateModifier != .all,
      let inverse = isToMany ? inverse(ofToMany: key) : inverse(ofToOne: key),
      let destination = map.entity.relationshipsByName[key]?.destinationEntity.flatMap({ access.schema[$0] }),
      destination.hasSingleValue(at: rest)
    else { return nil }
    let inner = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: rest), rightExpression: comparison.rightExpression, modifier: .direct,
      type: comparison.predicateOperatorType, options: comparison.options)
    return .related(AccessPath.Related(map: destination, predicate: inner, inverse: inverse))
  }

  /// The path for a comparison of the number of members that satisfy a predicate, as in
  /// `SUBQUERY(labels, $l, $l.name == 'x').@count > 0`.
  private func memberPath(for comparison: NSComparisonPredicate) -> AccessPath? {
    guard let condition = MemberCondition(comparison), let inverse = inverse(ofToMany: condition.key),
      let destination = map.entity.relationshipsByName[condition.key]?.destinationEntity.flatMap({ access.schema[$0] })
    else { return nil }
    return .related(AccessPath.Related(map: destination, predicate: condition.predicate, inverse: inverse))
  }

  // MARK: Unique values

  /// The paths by the uniqueness constraints whose attributes must all equal one of some constants.
  private func keyPaths(for memberships: [Membership]) -> [AccessPath] {
    guard memberships.contains(where: \.isExact) else { return [] }
    return map.constraints.compactMap { constraint in
      guard constraint.number < Schema.highestNextNumber else { return nil }
      return keys(for: constraint, memberships).map { .holders(of: $0, constraint) }
    }
  }

  /// The most combinations of values for which keys are made.
  private static let mostKeys = 100_000

  /// The keys of all combinations of values; nil if an attribute has no values, or if there are too many combinations.
  private func keys(for constraint: EntityMap.Constraint, _ memberships: [Membership]) -> [[UInt8]]? {
    var rows = [FieldWriter()]
    var rest = constraint.fields.count
    for field in map.fields where constraint.fields.contains(field.number) {
      guard let values = values(of: field, memberships), values.count <= Self.mostKeys / max(rows.count, 1)
      else { return nil }
      do {
        if values.count == 1 {
          for place in rows.indices { try access.write(values[0], of: field, to: &rows[place]) }
        } else {
          rows = try rows.flatMap { row in try values.map { try row.appending($0, of: field, access) } }
        }
      } catch {
        return nil
      }
      rest -= 1
    }
    guard rest == 0 else { return nil }
    return try? rows.compactMap {
      try UniqueKey.key(of: constraint.fields, in: $0.bytes, normalized: UniqueKey.normalized)
    }
  }

  /// The values of which an attribute must have one; nil if the predicates do not list them.
  private func values(of field: EntityMap.StoredField, _ memberships: [Membership]) -> [ManagedValue]? {
    guard case .attribute(let attribute) = field.kind else { return nil }
    for membership in memberships where membership.isExact {
      guard case .value(field.name) = membership.subject else { continue }
      let constants = membership.constants
      let fit = constants.compactMap { ManagedValue(equalTo: $0, of: attribute) }
      if fit.count == constants.count { return fit }
    }
    return nil
  }
}

extension FieldWriter {
  fileprivate func appending(
    _ value: ManagedValue, of field: EntityMap.StoredField, _ access: RowAccess
  ) throws -> FieldWriter {
    var longer = self
    try access.write(value, of: field, to: &longer)
    return longer
  }
}

extension AccessPath {
  /// Whether at most one row has the key of a uniqueness constraint to which the path leads.
  fileprivate var isSingleKey: Bool { if case .holders(let keys, _) = self { keys.count <= 1 } else { false } }
}

extension EntityMap.Inverse {
  /// The number of the relationship; nil for none.
  fileprivate var number: UInt32? {
    switch self {
    case .none: nil
    case .toOne(let field): field
    case .toMany(let end): end.number
    }
  }
}

extension EntityMap {
  /// Whether a key path leads over to-one relationships to an object, or to an attribute that is no collection.
  fileprivate func hasSingleValue(at path: String) -> Bool {
    var entity: NSEntityDescription? = entity
    var keys = path.split(separator: ".")[...]
    while let key = keys.popFirst() {
      switch entity?.propertiesByName[String(key)] {
      case let relationship as NSRelationshipDescription where !relationship.isToMany:
        entity = relationship.destinationEntity
      case let attribute as NSAttributeDescription: return keys.isEmpty && attribute.isScalar
      default: return false
      }
    }
    return true
  }
}

extension NSAttributeDescription {
  fileprivate var isScalar: Bool {
    ![.undefinedAttributeType, .transformableAttributeType, .compositeAttributeType].contains(attributeType)
  }
}
