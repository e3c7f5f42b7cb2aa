import Foundation

extension NSFetchRequestResult where Self: NSManagedObject {
  /// A request for the objects of the entity that has this class, with results of this class.
  ///
  /// Apple's has only ``NSManagedObject/fetchRequest()``, whose result is cast: `Item.fetchRequest() as! NSFetchRequest<Item>`. Off
  /// Apple's platforms the type of the results is real, and such a cast succeeds because this is what is cast.
  public static func fetchRequest() -> NSFetchRequest<Self> { NSFetchRequest(entityName: entity().name ?? "") }
}

extension NSManagedObjectModel {
  /// The entity that has a class; nil if none or several have.
  func entity(of type: NSManagedObject.Type) -> NSEntityDescription? {
    let entities = entities.filter { $0.managedObjectClass == type }
    // A subentity without a class of its own has that of its superentity.
    let first = entities.first { entity in !entities.contains { $0 !== entity && entity.isKindOf(entity: $0) } }
    return entities.count == 1 || entities.allSatisfy { first.map($0.isKindOf(entity:)) ?? false } ? first : nil
  }
}

/// The models that are frozen, as long as they live.
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

  /// The entity that has a class. Exactly one must have, or equal ones of several models.
  func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
    let entities = models.compactMap { $0.entity(of: type) }
    let first = entities.first
    precondition(first != nil, "No entity of a model in use has the class \(type).")
    guard let first, entities.allSatisfy({ $0 == first }) else {
      preconditionFailure("Entities of several models have the class \(type): name the entity or the context.")
    }
    return first
  }

  var models: [NSManagedObjectModel] { entries.withLock { $0.compactMap(\.model) } }
}
