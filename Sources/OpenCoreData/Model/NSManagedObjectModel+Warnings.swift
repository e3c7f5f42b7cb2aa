extension NSManagedObjectModel {
  /// What is probably a mistake in the model, although it can be used: ``fileWarnings``, and for each relationship
  /// without an inverse that it has none.
  ///
  /// Without an inverse, setting one end of a relationship does not change the other end.
  ///
  /// - Complexity: O(size of the model).
  public var warnings: [String] {
    fileWarnings.map(\.description)
      + entities.flatMap(\.ownProperties).compactMap { property in
        guard let relationship = property as? NSRelationshipDescription, relationship.inverseRelationship == nil
        else { return nil }
        return "warning: \(relationship.owner?.name ?? "").\(relationship.name) has no inverse relationship"
      }
  }
}
