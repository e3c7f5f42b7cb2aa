import Foundation

/// A coordinator with one store and one context, of the source or the destination of a migration.
final class MigrationStack {
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  let store: NSPersistentStore

  /// - Parameter code: The code of the error if the store cannot be opened, which contains the reason.
  init(
    _ model: NSManagedObjectModel, _ place: MigratedPlace, _ configuration: String?, isReadOnly: Bool, failing code: Int
  ) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model, fileID: "")
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.validatesSaves = false
    var options = place.ownOptions
    options[NSReadOnlyPersistentStoreOption] = isReadOnly
    do {
      store = try coordinator.addPersistentStore(
        ofType: place.type, configurationName: model.hasConfiguration(configuration) ? configuration : nil,
        at: place.url, options: options, fileID: "")
    } catch {
      throw CoreDataError.make(
        code, "The store at \(place.url.absoluteString) cannot be opened: \((error as NSError).localizedDescription)",
        [NSUnderlyingErrorKey: error])
    }
  }

  func close() { try? coordinator.remove(store) }

  /// Turns unchanged objects into faults, so that they neither keep their values nor each other.
  func release() { context.refreshAllObjects() }
}
