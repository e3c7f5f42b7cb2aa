import Foundation
import Synchronization

extension NSManagedObject {
  /// The entity that has this class, in a model that is in use. Exactly one must have.
  public class func entity() -> NSEntityDescription {
    let entities = ModelsInUse.shared.models.compactMap { $0.entity(of: self) }
    let first = entities.first
    precondition(first != nil, "No entity of a model in use has the class \(self).")
    guard let first, entities.allSatisfy({ $0 == first }) else {
      preconditionFailure("Entities of several models have the class \(self): name the entity or the context.")
    }
    return first
  }

  /// A request for the objects of the entity that has this class.
  public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    NSFetchRequest(entityName: entity().name ?? "")
  }
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

/// The models that are frozen, as long as they live. Sendable, for the lock guards all there is.
final class ModelsInUse: @unchecked Sendable {
  static let shared = ModelsInUse()

  private struct Entry {
    weak var model: NSManagedObjectModel?
  }

  private let lock = Mutex(())
  private var entries: [Entry] = []

  func add(_ model: NSManagedObjectModel) {
    lock.withLock { _ in
      entries.removeAll { $0.model == nil }
      entries.append(Entry(model: model))
    }
  }

  var models: [NSManagedObjectModel] { lock.withLock { _ in entries.compactMap(\.model) } }
}
