import Cairn
import CairnIncrementalStore
import CoreData

/// A store that contains a package catalogue as a graph of objects.
struct ObjectStore {
  private let container: NSPersistentContainer
  private let store: CairnIncrementalStore

  /// Opens the store at `url`, and creates it if it is missing.
  init(at url: URL) throws {
    container = NSPersistentContainer(name: "Catalogue", managedObjectModel: try Self.model())
    container.persistentStoreDescriptions = [.cairn(at: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    store = container.persistentStoreCoordinator.persistentStores[0] as! CairnIncrementalStore
  }

  /// Creates a new, empty store in place of an earlier catalogue or, if `replacing`, of any store. Never removes
  /// anything that is not a store.
  static func create(at url: URL, replacing: Bool) throws -> ObjectStore {
    CairnIncrementalStore.register()
    let model = try model()
    guard try replacing || !isOccupied(url, model) else { throw OccupiedPath(path: url.relativePath) }
    try NSPersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(
      at: url, type: .cairn, options: [NSPersistentStoreForceDestroyOption: replacing])
    return try ObjectStore(at: url)
  }

  /// Whether there is a store of another model. A store without the hashes of a model is one whose creation was
  /// interrupted.
  private static func isOccupied(_ url: URL, _ model: NSManagedObjectModel) throws -> Bool {
    guard FileManager.default.fileExists(atPath: url.path) else { return false }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .cairn, at: url)
    return metadata[NSStoreModelVersionHashesKey] != nil
      && !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }

  func close() throws { try container.persistentStoreCoordinator.remove(store) }

  func newContext() -> NSManagedObjectContext { container.newBackgroundContext() }

  /// Runs `body` with a context of its own.
  func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    let context = newContext()
    return try context.performAndWait { try body(context) }
  }

  /// Bytes of memory that the engine's index takes.
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
  /// Any version; nil if there is none.
  func anyVersion() throws -> Version? {
    let request: NSFetchRequest<Version> = Version.fetchRequest()
    request.fetchLimit = 1
    return try fetch(request).first
  }
}
