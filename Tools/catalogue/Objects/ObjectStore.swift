import Cairn
import CairnIncrementalStore
import CoreData

/// A store with a package catalogue as a graph of objects.
struct ObjectStore {
  private let container: NSPersistentContainer
  private let store: CairnIncrementalStore

  /// Opens the store at `url`, which is made if it is missing.
  init(at url: URL) throws {
    container = NSPersistentContainer(name: "Catalogue", managedObjectModel: try Self.model())
    container.persistentStoreDescriptions = [.cairn(at: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    store = container.persistentStoreCoordinator.persistentStores[0] as! CairnIncrementalStore
  }

  /// Makes a new, empty one in place of an earlier catalogue, and with `replacing` in place of any store. What isn't
  /// a store is never removed.
  static func create(at url: URL, replacing: Bool) throws -> ObjectStore {
    CairnIncrementalStore.register()
    let model = try model()
    guard try replacing || !isOccupied(url, model) else { throw OccupiedPath(path: url.relativePath) }
    try NSPersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(
      at: url, type: .cairn, options: [NSPersistentStoreForceDestroyOption: replacing])
    return try ObjectStore(at: url)
  }

  /// Whether there is a store of another model. Before the first save a store doesn't say of which model it is.
  private static func isOccupied(_ url: URL, _ model: NSManagedObjectModel) throws -> Bool {
    guard FileManager.default.fileExists(atPath: url.path) else { return false }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .cairn, at: url)
    return metadata[NSStoreModelVersionHashesKey] != nil
      && !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }

  func close() throws { try container.persistentStoreCoordinator.remove(store) }

  func newContext() -> NSManagedObjectContext { container.newBackgroundContext() }

  /// Works with a context of its own.
  func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    let context = newContext()
    return try context.performAndWait { try body(context) }
  }

  /// Bytes of memory that the engine takes to find rows.
  var indexBytes: Int { store.statistics?.indexBytes ?? 0 }

  /// Bytes of the engine's log.
  var logBytes: Int { store.statistics?.logBytes ?? 0 }

  func compact() throws { try store.compact() }

  private static func model() throws -> NSManagedObjectModel {
    guard let url = Bundle.module.url(forResource: "Catalogue", withExtension: "xcdatamodeld") else {
      throw CocoaError(.fileNoSuchFile)
    }
    return try NSManagedObjectModel(modelFileAt: url)
  }
}

extension NSManagedObjectContext {
  /// Some version; nil if there is none.
  func anyVersion() throws -> Version? {
    let request: NSFetchRequest<Version> = Version.fetchRequest()
    request.fetchLimit = 1
    return try fetch(request).first
  }
}
