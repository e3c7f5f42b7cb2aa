extension CoreDataError {
  /// The error for a value that a store has given for a property, and that the property cannot have.
  static func wrongAnswer(
    _ answer: Any, of store: NSPersistentStore?, for property: NSPropertyDescription, of id: NSManagedObjectID
  ) -> NSError {
    let name = store.map { store in "\(type(of: store))" + (store.url.map { " at \($0.absoluteString)" } ?? "") }
    return make(
      NSPersistentStoreOperationError,
      "The store \(name ?? "of \(id)") gave \(kind(of: answer)) for the \(property.expectation.kind) "
        + "\(id.entity.name ?? "").\(property.name), where \(property.expectation.value) is expected.",
      store.map { [NSAffectedStoresErrorKey: [$0]] } ?? [:])
  }

  /// What an answer is: its type, or the entity of the objects that it identifies.
  private static func kind(of answer: Any) -> String {
    switch answer {
    case let id as NSManagedObjectID: "an identifier of the entity \(id.entity.name ?? "")"
    case let ids as [NSManagedObjectID]:
      "identifiers of the entities \(Set(ids.map { $0.entity.name ?? "" }).sorted().joined(separator: ", "))"
    default: "a value of the type \(type(of: answer))"
    }
  }
}

extension NSPropertyDescription {
  /// What kind of property it is, and what a store is expected to give for it.
  fileprivate var expectation: (kind: String, value: String) {
    switch self {
    case let attribute as NSAttributeDescription:
      return ("attribute", "a value of the type \(attribute.attributeValueClassName ?? "Any")")
    case let relationship as NSRelationshipDescription:
      let entity = relationship.destinationEntity?.name.map { " of the entity \($0)" } ?? ""
      return (
        "relationship",
        relationship.isToMany ? "a collection of identifiers\(entity)" : "an identifier\(entity) or NSNull"
      )
    default: return ("property", "no value")
    }
  }
}

extension NSEntityDescription {
  /// Whether it is an entity or inherits from it, also if it is of another copy of the model.
  func isOrInherits(from entity: NSEntityDescription) -> Bool {
    sequence(first: self) { $0.superentity }.contains { $0 === entity || $0.name == entity.name }
  }
}

extension NSManagedObjectContext {
  /// The store of an object; nil if the store is gone or the identifier is temporary.
  func store(of id: NSManagedObjectID) -> NSPersistentStore? { persistentStoreCoordinator?.presentStore(of: id) }
}
