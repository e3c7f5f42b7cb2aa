extension NSManagedObjectModel {
  /// The entity that has a class; nil if no entity or several entities have it.
  func entity(of type: NSManagedObject.Type) -> NSEntityDescription? {
    let entities = entities.filter { $0.managedObjectClass == type }
    // A subentity without a class of its own has that of its superentity.
    let first = entities.first { entity in !entities.contains { $0 !== entity && entity.isKindOf(entity: $0) } }
    return entities.count == 1 || entities.allSatisfy { first.map($0.isKindOf(entity:)) ?? false } ? first : nil
  }
}

/// The frozen models that are in memory.
final class ModelsInUse: Sendable {
  static let shared = ModelsInUse()

  private struct Entry {
    weak var model: NSManagedObjectModel?
  }

  private let entries = Locked<[Entry]>([])

  func add(_ model: NSManagedObjectModel) {
    entries.withLock { entries in
      entries.removeAll { $0.model == nil }
      entries.append(Entry(model: model))
    }
  }

  /// The entity that has a class. Exactly one entity must have it, or equal entities of several models.
  func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
    // An entity whose model is freed by another thread has no destinations any more, and differs from its copies.
    let models = models
    return withExtendedLifetime(models) {
      let entities = models.compactMap { $0.entity(of: type) }
      let first = entities.first
      require(first != nil, "No entity of a model in use has the class \(type).")
      guard let first, entities.allSatisfy({ $0 == first }) else {
        fatalError("Entities of several models have the class \(type): name the entity or the context.")
      }
      return first
    }
  }

  var models: [NSManagedObjectModel] { entries.withLock { $0.compactMap(\.model) } }
}
