import Foundation

/// Attributes that are derived from other objects, which a batch request does not compute, since that would need these
/// objects.
extension NSEntityDescription {
  /// Whether an attribute of other objects is derived from a property that a batch request changes, or from its inverse,
  /// or one of the object's own from the relationship.
  func isDerivedByOthers(from name: String, _ derivations: Derivations) -> Bool {
    if isDerived(from: name, derivations) { return true }
    guard let relationship = layout.place(of: name).flatMap({ layout.slots[$0].relationship }),
      let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity
    else { return false }
    return destination.family.contains { $0.isDerived(from: inverse.name, derivations) }
  }

  /// Whether an attribute of other objects is derived from a property of objects of this entity, or one of their own
  /// from a relationship.
  func isDerived(from name: String, _ derivations: Derivations) -> Bool {
    let place = layout.place(of: name)
    return derivations[self].contains { $0.name == name }
      || layout.derived.contains { $0.relationships.contains { $0 == place } }
  }

  /// The error for a request that changes a property from which attributes of other objects are derived.
  func refusal(_ name: String) -> NSError {
    CoreDataError.make(
      NSCoreDataError,
      "A batch request would change \(self.name ?? "").\(name), from which attributes of other objects are derived. "
        + "Only contexts compute these.")
  }

  /// The entity and those that inherit from it.
  var family: [NSEntityDescription] { [self] + subentities.flatMap(\.family) }
}

extension NSPersistentStore {
  /// The derivations of the model of the store's coordinator.
  var derivations: Derivations { persistentStoreCoordinator?.managedObjectModel.derivations ?? Derivations() }
}

extension NSEntityDescription {
  /// Whether objects have derived attributes.
  package final var hasDerivedAttributes: Bool { !layout.derived.isEmpty }

  /// Computes the attributes that are derived from other attributes of the object, and returns their slots.
  package final func deriveOwnAttributes(_ values: inout [ManagedValue]) -> Set<Int> {
    layout.derive(&values, fromOthers: false)
    return Set(layout.derived.lazy.filter { !$0.readsOthers }.map(\.place))
  }
}
