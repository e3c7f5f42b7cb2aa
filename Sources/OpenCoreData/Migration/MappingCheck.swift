import Foundation

/// Checks that a mapping model fits the models of a manager, and makes its policies.
struct MappingCheck {
  private let manager: NSMigrationManager

  init(_ manager: NSMigrationManager) { self.manager = manager }

  /// - Throws: ``NSMigrationError`` if the mapping model does not fit.
  func policies(of mappings: NSMappingModel) throws -> [NSEntityMigrationPolicy] {
    var names: Set<String> = []
    return try (mappings.entityMappings ?? []).map { mapping in
      guard let name = mapping.name, names.insert(name).inserted else {
        throw failure(mapping, "has no name of its own")
      }
      try check(mapping)
      return try policy(of: mapping)
    }
  }

  private func check(_ mapping: NSEntityMapping) throws {
    let source = try entity(
      mapping, mapping.sourceEntityName, mapping.sourceEntityVersionHash, manager.sourceModel, "source")
    let destination = try entity(
      mapping, mapping.destinationEntityName, mapping.destinationEntityVersionHash, manager.destinationModel,
      "destination")
    guard source != nil || destination != nil else { throw failure(mapping, "has neither a source nor a destination") }
    guard let destination else { return }
    guard !destination.isAbstract || mapping.entityMigrationPolicyClassName != nil else {
      throw failure(mapping, "makes objects of \(destination.name ?? ""), which is abstract")
    }
    for property in mapping.attributeMappings ?? [] where destination.attributesByName[property.name ?? ""] == nil {
      throw failure(mapping, "maps the attribute \(property.name ?? ""), which \(destination.name ?? "") does not have")
    }
    for property in mapping.relationshipMappings ?? []
    where destination.relationshipsByName[property.name ?? ""] == nil {
      throw failure(
        mapping, "maps the relationship \(property.name ?? ""), which \(destination.name ?? "") does not have")
    }
  }

  private func entity(
    _ mapping: NSEntityMapping, _ name: String?, _ hash: Data?, _ model: NSManagedObjectModel, _ end: String
  ) throws -> NSEntityDescription? {
    guard let name else { return nil }
    guard let entity = model.entitiesByName[name] else {
      throw failure(mapping, "is about the entity \(name), which the \(end) model does not have")
    }
    guard hash == nil || entity.hasVersionHash(hash) else {
      throw failure(mapping, "is about another version of the entity \(name) than the \(end) model has")
    }
    return entity
  }

  private func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
    guard let name = mapping.entityMigrationPolicyClassName else { return NSEntityMigrationPolicy() }
    let entities = manager.givenModels.compactMap {
      $0.entitiesByName[mapping.destinationEntityName ?? ""] ?? $0.entitiesByName[mapping.sourceEntityName ?? ""]
    }
    guard
      let policy = entities.lazy.compactMap({ ManagedObjectClass.named(name, for: $0, NSEntityMigrationPolicy.self) })
        .first
    else {
      throw failure(
        mapping,
        "names the policy \(name), but the program has no such subclass of NSEntityMigrationPolicy. Set "
          + "entityMigrationPolicyClassName to NSStringFromClass of the class, which includes the module")
    }
    return policy.init()
  }

  private func failure(_ mapping: NSEntityMapping, _ reason: String) -> NSError {
    CoreDataError.make(NSMigrationError, "The mapping \(mapping.name ?? "without a name") \(reason).")
  }
}
