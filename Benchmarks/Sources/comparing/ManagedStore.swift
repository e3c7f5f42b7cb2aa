import CairnIncrementalStore
import OpenCoreData

/// Managed objects in a store on Cairn with its default options: each save is durable when it returns.
package final class ManagedStore: KeptStore {
  package let url: URL
  private let model: NSManagedObjectModel
  private var container: NSPersistentContainer?

  package init(_ model: NSManagedObjectModel, at url: URL) {
    self.model = model
    self.url = url
  }

  package func open() throws {
    let container = NSPersistentContainer(name: "Benchmark", managedObjectModel: model)
    container.persistentStoreDescriptions = [.cairn(at: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    self.container = container
  }

  package func close() throws {
    guard let coordinator = container?.persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    container = nil
  }

  package func compact() throws {
    try (container!.persistentStoreCoordinator.persistentStores[0] as! CairnIncrementalStore).compact()
  }

  /// The identifiers in the store as it was opened last.
  package func resolved(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
    let coordinator = container!.persistentStoreCoordinator
    return ids.map { coordinator.managedObjectID(forURIRepresentation: $0.uriRepresentation())! }
  }

  /// Runs a closure with a new context.
  package func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    let context = container!.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }
}
