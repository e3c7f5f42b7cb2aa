/// The objects that a batch request deletes and changes, by the delete rules of the model.
///
/// `Object` is whatever a store identifies objects by.
package struct BatchDeletion<Object: Hashable> {
  /// The objects to delete, each once: those of the request first.
  package private(set) var deleted: [Object] = []
  /// The objects that stay and no longer refer to deleted ones, with the relationships concerned.
  package private(set) var left: [Object: [NSRelationshipDescription]] = [:]

  /// - Parameters:
  ///   - objects: The objects of the request.
  ///   - store: The store of the objects.
  ///   - related: The objects that a relationship of an object refers to.
  /// - Throws: ``NSValidationRelationshipDeniedDeleteError`` if the rule `deny` forbids the deletion;
  ///   ``NSValidationMissingMandatoryPropertyError`` if an object would lose a reference that it needs;
  ///   ``NSCoreDataError`` if attributes of objects that stay are derived from the deleted ones; the errors of
  ///   `related`.
  package init(
    _ objects: some Sequence<Object>, in store: NSPersistentStore, entity: (Object) throws -> NSEntityDescription,
    related: (Object, NSRelationshipDescription) throws -> [Object]
  ) throws {
    var known: Set<Object> = []
    var denied: [(relationship: NSRelationshipDescription, related: [Object])] = []
    for object in objects where known.insert(object).inserted { deleted.append(object) }
    var next = 0
    while next < deleted.count {
      let object = deleted[next]
      next += 1
      for relationship in try entity(object).storedRelationships
      where relationship.deleteRule != .noActionDeleteRule {
        let others = try related(object, relationship)
        switch relationship.deleteRule {
        case .cascadeDeleteRule:
          for other in others where known.insert(other).inserted { deleted.append(other) }
        case .denyDeleteRule: denied.append((relationship, others))
        case .nullifyDeleteRule, .noActionDeleteRule: break
        }
        guard let inverse = relationship.inverseRelationship else { continue }
        for other in others where left[other]?.contains(where: { $0 === inverse }) != true {
          left[other, default: []].append(inverse)
        }
      }
    }
    for (relationship, others) in denied where others.contains(where: { !known.contains($0) }) {
      throw Self.error(NSValidationRelationshipDeniedDeleteError, relationship)
    }
    left = left.filter { !known.contains($0.key) }
    let derivations = store.derivations
    for (object, relationships) in left {
      let entity = try entity(object)
      if let relationship = relationships.first(where: { entity.isDerived(from: $0.name, derivations) }) {
        throw entity.refusal(relationship.name)
      }
      guard let needed = relationships.first(where: { !$0.isToMany && !$0.isOptional }) else { continue }
      throw Self.error(NSValidationMissingMandatoryPropertyError, needed)
    }
  }

  private static func error(_ code: Int, _ relationship: NSRelationshipDescription) -> any Error {
    let text = ValidationErrors.text(code, "\(relationship.owner?.name ?? "").\(relationship.name)")
    return CoreDataError.make(
      code, "A batch request deletes objects that others need: \(text)",
      [NSValidationKeyErrorKey: relationship.name])
  }
}

extension NSEntityDescription {
  /// The relationships that stores keep.
  fileprivate var storedRelationships: [NSRelationshipDescription] {
    layout.relationships.compactMap { layout.slots[$0].isTransient ? nil : layout.slots[$0].relationship }
  }
}
