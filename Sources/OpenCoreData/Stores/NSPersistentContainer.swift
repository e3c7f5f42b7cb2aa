public import Foundation

/// A model, a coordinator, its stores, and contexts, made together.
///
/// Methods and constant properties may be used on any thread; ``persistentStoreDescriptions`` by one thread at a time.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  /// The name of the model that the container looks for, and of the file in its first description.
  open private(set) var name: String

  /// The context for the user interface, on the main queue.
  open private(set) var viewContext: NSManagedObjectContext

  /// The coordinator of all its contexts.
  open private(set) var persistentStoreCoordinator: NSPersistentStoreCoordinator

  /// The descriptions of the stores that ``loadPersistentStores(completionHandler:)`` adds; by default one store in
  /// ``defaultDirectoryURL()``.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]

  /// Makes a container without stores. Its model is the `.xcdatamodeld` or `.xcdatamodel` with the name among the
  /// resources of the main bundle, which must be there and be readable.
  ///
  /// - Parameters:
  ///   - name: The name of the container and the model.
  ///   - fileID: Determines the module in which classes are looked for; see
  ///     ``NSManagedObjectModel/init(modelFileAt:fileID:)``.
  public convenience init(name: String, fileID: String = #fileID) {
    self.init(name: name, managedObjectModel: Self.model(name, fileID))
  }

  /// Makes a container without stores. Afterwards neither the model nor any part of it can be changed.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model, fileID: "")
    viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    viewContext.persistentStoreCoordinator = persistentStoreCoordinator
    let url = Self.defaultDirectoryURL().appendingPathComponent(name).appendingPathExtension("sqlite")
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: url, fileID: "")]
  }

  /// The model, which can no longer be changed.
  open var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// The folder of stores whose descriptions do not name another one: a folder named like the executable, in the user's
  /// application support folder. ``loadPersistentStores(completionHandler:)`` creates it if necessary.
  open class func defaultDirectoryURL() -> URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    let folder = folders.first ?? FileManager.default.temporaryDirectory
    return folder.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
  }

  /// Adds the described stores, and calls the block for each with the error, if there was one: before this method
  /// returns, or later on another thread if the description asks for that.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    let folder = Self.defaultDirectoryURL()
    for description in persistentStoreDescriptions {
      if description.url?.deletingLastPathComponent().standardized.path == folder.standardized.path {
        // If this fails, the store reports a better error.
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      }
      persistentStoreCoordinator.addPersistentStore(
        with: description, fileID: moduleOfSubclass, completionHandler: block)
    }
  }

  /// A new context with a queue of its own.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs the block later, on the queue of a new context.
  open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs the block on the queue of a new context, and returns its result.
  open nonisolated(nonsending) func performBackgroundTask<T, Failure: Error>(
    _ block: @escaping (NSManagedObjectContext) throws(Failure) -> T
  ) async throws(Failure) -> T {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) in try block(context) }
  }

  /// The module of a subclass with a slash, as in the value of `#fileID`; empty if the class is this one.
  private var moduleOfSubclass: String {
    Self.self == NSPersistentContainer.self ? "" : "\(String(reflecting: Self.self).prefix { $0 != "." })/"
  }

  private static func model(_ name: String, _ fileID: String) -> NSManagedObjectModel {
    let urls = ["xcdatamodeld", "xcdatamodel"].compactMap { Bundle.main.url(forResource: name, withExtension: $0) }
    guard let url = urls.first else {
      fatalError(
        "There is no \(name).xcdatamodeld or \(name).xcdatamodel among the resources of \(Bundle.main.bundlePath). "
          + "Models of other bundles are given to init(name:managedObjectModel:).")
    }
    do {
      return try NSManagedObjectModel(modelFileAt: url, fileID: fileID)
    } catch {
      fatalError("The model \(name) cannot be read: \(error)")
    }
  }
}
