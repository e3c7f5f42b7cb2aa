import CoreData
import Foundation

/// Hands objects from one context to another by their identifiers.
final class SyncCoordinator {
  let viewContext: NSManagedObjectContext
  let syncContext: NSManagedObjectContext
  private var observer: NSObjectProtocol?

  init(coordinator: NSPersistentStoreCoordinator) {
    viewContext = NSManagedObjectContext(.privateQueue)
    viewContext.persistentStoreCoordinator = coordinator
    syncContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    syncContext.persistentStoreCoordinator = coordinator
    syncContext.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump

    observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: syncContext, queue: nil
    ) { [weak self] notification in
      self?.merge(notification)
    }
  }

  deinit {
    if let observer = observer { NotificationCenter.default.removeObserver(observer) }
  }

  private func merge(_ notification: Notification) {
    viewContext.performAndWait {
      viewContext.mergeChanges(fromContextDidSave: notification)
    }
  }

  func rename(_ objectID: NSManagedObjectID, to name: String) throws {
    try syncContext.performAndWait {
      guard let recipe = try syncContext.existingObject(with: objectID) as? Recipe else { return }
      recipe.name = name
      try syncContext.save()
    }
  }

  func delete(_ objectID: NSManagedObjectID) throws {
    try syncContext.performAndWait {
      syncContext.delete(syncContext.object(with: objectID))
      try syncContext.save()
    }
  }

  /// Finds the recipe with a URI that another program has kept.
  func recipe(at uri: URL) -> Recipe? {
    guard let objectID = viewContext.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) else {
      return nil
    }
    return try? viewContext.existingObject(with: objectID) as? Recipe
  }

  func changedKeys(of object: NSManagedObject) -> [String] {
    guard object.hasPersistentChangedValues else { return [] }
    let committed = object.committedValues(forKeys: nil)
    return object.changedValues().keys.filter { committed[$0] != nil }.sorted()
  }

  func discardChanges() {
    for object in viewContext.updatedObjects { viewContext.refresh(object, mergeChanges: false) }
    for object in viewContext.insertedObjects { viewContext.delete(object) }
  }
}
