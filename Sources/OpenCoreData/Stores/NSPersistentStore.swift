public import Foundation

/// A place where objects are stored. Every store is a subclass of ``NSIncrementalStore``.
///
/// A coordinator makes its stores itself. One thread at a time calls a store: whichever thread needs it.
open class NSPersistentStore: NSObject {
  /// The coordinator; nil once the store is removed from it.
  open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// The configuration of the model whose entities the store keeps; `PF_DEFAULT_CONFIGURATION_NAME` if none was given.
  public let configurationName: String

  /// The options with which the store was added.
  public let options: [AnyHashable: Any]?

  /// The location of the store; `/dev/null` if it was added without a URL.
  open var url: URL?

  /// Whether the store must not be written to; by default as ``NSReadOnlyPersistentStoreOption`` specifies.
  open var isReadOnly: Bool

  /// The metadata of the store, ``NSStoreTypeKey`` and ``NSStoreUUIDKey`` at least; ``loadMetadata()`` sets them.
  ///
  /// Metadata that are set later are written with the next save of a context that uses the store.
  open var metadata: [String: Any]! = [:]

  /// The identity of the store in the identifiers of its objects. Fixed when the store is added.
  private(set) var identity: StoreIdentity?
  /// The names of the entities of its configuration. Fixed when the store is added.
  private(set) var entityNames: Set<String> = []

  /// Called by coordinators only. A subclass that overrides it marks it as required.
  ///
  /// It should not access the URL; that is the task of ``loadMetadata()``.
  ///
  /// - Parameters:
  ///   - root: The coordinator that adds the store.
  ///   - name: The configuration; nil for all entities of the model.
  ///   - url: The location of the store, which may not exist yet.
  ///   - options: The options with which the store is added.
  public required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) {
    persistentStoreCoordinator = root
    configurationName = name ?? NSManagedObjectModel.defaultConfigurationName
    self.url = url
    self.options = options
    isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true
  }

  /// The type of the store, under which its class is registered: the type in the metadata, unless a subclass overrides
  /// this.
  open var type: String { metadata?[NSStoreTypeKey] as? String ?? "" }

  /// The unique identifier of the store; in its metadata under ``NSStoreUUIDKey``.
  ///
  /// It is part of the identifiers of the store's objects: setting it has no effect on them until the store is added
  /// anew.
  open var identifier: String! {
    get { metadata?[NSStoreUUIDKey] as? String }
    set {
      var changed: [String: Any] = metadata ?? [:]
      changed[NSStoreUUIDKey] = newValue
      metadata = changed
    }
  }

  /// Opens the store, or creates it if there is nothing or an empty file at its URL, and sets ``metadata``. Every store
  /// overrides this method. A coordinator calls it once, before any other method.
  ///
  /// - Throws: The reason why the store cannot be used; it is then not added.
  open func loadMetadata() throws { abstract() }

  /// Called after the store has been added to the coordinator. Does nothing unless a subclass overrides it.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// Called before the store is removed from the coordinator: the place to close files. Does nothing unless a subclass
  /// overrides it.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  /// The metadata of the store at `url`, without adding it. Every store whose metadata are kept after it is removed
  /// overrides this.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw notOverridden("metadataForPersistentStore(with:)")
  }

  /// Replaces the metadata of the store at `url` at once, without adding it. Every store whose metadata are kept after
  /// it is removed overrides this.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    throw notOverridden("setMetadata(_:forPersistentStoreAt:)")
  }

  /// The class of the manager that migrates stores of this class by a mapping model: a subclass of
  /// ``NSMigrationManager``.
  open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

  /// Removes the store at `url` with all its files, if there is one. Unless a subclass overrides this, the file or
  /// folder there is removed. Apple's class has no such method: custom stores cannot be destroyed there.
  open class func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
    guard url.isFileURL, FileManager.default.fileExists(atPath: url.path) else { return }
    try FileManager.default.removeItem(at: url)
  }

  /// Replaces the store at `destinationURL`, if there is one, with a copy of the store at `sourceURL`. Nobody may use
  /// the former or write to the latter meanwhile.
  ///
  /// Unless a subclass overrides this, the file or folder is copied under another name beside the destination, and gets
  /// the destination's name once it is on disk: the old store goes away at that moment or, if anything fails before,
  /// stays. If one of the two is a folder, the old store is renamed first; if the process ends between the two steps,
  /// both are beside the destination under names that begin with a dot. There the old store also stays if it cannot be
  /// removed, which is no error. A store that consists of several files side by side has to override this. The copy has
  /// the identifier of the original, so no coordinator can have both.
  ///
  /// Apple's class has no such method: custom stores cannot be replaced there.
  ///
  /// - Throws: ``NSPersistentStoreOperationError`` if there is no source or it is the destination; errors of the file
  ///   system.
  open class func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]?
  ) throws {
    try StoreReplacement.replace(destinationURL, withCopyOf: sourceURL)
  }

  /// Call this once, when the metadata are loaded.
  func fix(_ uuid: String, entities: [NSEntityDescription]) {
    identity = StoreIdentity(uuid, of: self)
    entityNames = Set(entities.compactMap(\.name))
  }

  /// Copies the metadata of another store that neither of the two has written itself.
  func carryMetadata(of other: NSPersistentStore) {
    let own = [
      NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
      NSPersistentStoreModelVersionChecksumKey,
    ]
    let carried = (other.metadata ?? [:]).filter { !own.contains($0.key) }
    metadata = (metadata ?? [:]).merging(carried) { own, _ in own }
  }

  /// Ends the program because a subclass lacks a method.
  func abstract(_ method: String = #function) -> Never {
    fatalError("\(Swift.type(of: self)) does not override \(method), as every store must.")
  }

  private static func notOverridden(_ method: String) -> NSError {
    CoreDataError.make(NSPersistentStoreOperationError, "The store class \(self) does not override \(method).")
  }
}
