import Foundation

extension NSManagedObjectModel {
  /// A model for the store with these metadata: the contents of the first of `models` that fits the store as a whole or
  /// in one of its configurations, else the merger of all models whose every entity fits. Nil if the metadata have no
  /// version hashes, if the merged models contradict each other, or if none of them describes some entity of the store.
  public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
    self.init(fileID: "")
    guard let hashes = metadata[Self.versionHashesKey] as? [String: Data] else { return nil }
    let fitting = models.first { model in
      model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        || model.configurations.contains {
          model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata)
        }
    }
    let parts =
      fitting.map { [$0] }
      ?? models.filter { $0.entitiesByName.allSatisfy { name, entity in entity.hasVersionHash(hashes[name]) } }
    guard merge(parts), Set(hashes.keys).isSubset(of: entitiesByName.keys) else { return nil }
  }

  /// Adopts the contents of the models. Returns false if an entity has no name, or if two models contradict each other
  /// about an entity or a template of a request.
  func merge(_ models: [NSManagedObjectModel]) -> Bool {
    var known: [String: NSEntityDescription] = [:]
    for entity in models.flatMap(\.entities) {
      guard let name = entity.name else { return false }
      if let other = known.updateValue(entity, forKey: name), other != entity { return false }
    }
    var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    for (name, template) in models.flatMap(\.fetchRequestTemplatesByName) {
      if let other = templates.updateValue(template, forKey: name), !other.asks(theSameAs: template) { return false }
    }
    adopt(models)
    return true
  }

  /// Adopts copies of the contents of the models. Of entities with the same name, only the first is copied.
  func adopt(_ models: [NSManagedObjectModel]) {
    var copies: [String: NSEntityDescription] = [:]
    entities = models.flatMap(\.entities).compactMap { original in
      guard let name = original.name else { return copied(original) }
      guard copies[name] == nil else { return nil }
      copies[name] = copied(original)
      return copies[name]
    }
    for original in models.flatMap(\.entities) {
      guard let copy = original.name.flatMap({ copies[$0] }) else { continue }
      copy.subentities = original.subentities.compactMap { $0.name.flatMap { copies[$0] } }
    }
    for entity in entities { entity.relink(to: copies) }
    for model in models { adoptRest(of: model, copies) }
  }

  private func adoptRest(of model: NSManagedObjectModel, _ copies: [String: NSEntityDescription]) {
    for (name, entities) in model.entitiesByConfiguration {
      let added = entities.compactMap { $0.name.flatMap { copies[$0] } }
      let present = entitiesByConfiguration[name] ?? []
      setEntities(present + added.filter { entity in !present.contains { $0 === entity } }, forConfigurationName: name)
    }
    for (name, template) in model.fetchRequestTemplatesByName {
      let copy = NSFetchRequest<any NSFetchRequestResult>(copying: template)
      copy.relink(to: copies)
      setFetchRequestTemplate(copy, forName: name)
    }
    fileWarnings += model.fileWarnings
    folders.formUnion(model.folders)
    versionIdentifiers.formUnion(model.versionIdentifiers)
    if let texts = model.localizationDictionary {
      localizationDictionary = (localizationDictionary ?? [:]).merging(texts) { _, later in later }
    }
  }
}

extension NSEntityDescription {
  /// Redirects the references to other entities and their properties to those of the same names among `entities`.
  fileprivate func relink(to entities: [String: NSEntityDescription]) {
    referToOwnProperties()
    for property in ownProperties {
      if let relationship = property as? NSRelationshipDescription {
        relationship.relink(to: entities)
      } else if let fetched = property as? NSFetchedPropertyDescription {
        fetched.fetchRequest?.relink(to: entities)
      }
    }
  }
}

extension NSRelationshipDescription {
  fileprivate func relink(to entities: [String: NSEntityDescription]) {
    destinationEntity = destinationEntity?.name.flatMap { entities[$0] }
    if let inverse = inverseRelationship {
      inverseRelationship = inverse.owner?.name.flatMap { entities[$0]?.relationshipsByName[inverse.name] }
    }
  }
}

extension NSFetchRequest {
  fileprivate func relink(to entities: [String: NSEntityDescription]) {
    entity = entity?.name.flatMap { entities[$0] }
  }
}
