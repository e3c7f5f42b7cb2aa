public import Foundation

/// A place where objects are kept; stores are subclasses of ``NSIncrementalStore``.
///
/// A coordinator makes its stores itself and calls each by one thread at a time, on whichever thread needs it.
open class NSPersistentStore: NSObject {
  /// The coordinator; nil once the store is removed from it.
  open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// The configuration of the model whose entities it keeps; `PF_DEFAULT_CONFIGURATION_NAME` if none was asked for.
  public let configurationName: String

  /// The options it was added with.
  public let options: [AnyHashable: Any]?

  /// Where it is; `/dev/null` if it was added without a URL.
  open var url: URL?

  /// Whether it refuses to be written to; said by ``NSReadOnlyPersistentStoreOption`` unless set.
  open var isReadOnly: Bool

  /// What the store says of itself, ``NSStoreTypeKey`` and ``NSStoreUUIDKey`` at least; ``loadMetadata()`` sets it.
  ///
  /// What is set later is written with the next save of a context that uses the store.
  open var metadata: [String: Any]! = [:]

  /// What its objects' identifiers refer to the store by. Fixed when the store is added.
  private(set) var identity: StoreIdentity?
  /// The names of the entities of its configuration. Fixed when the store is added.
  private(set) var entityNames: Set<String> = []

  /// To be called by coordinators only. A subclass that overrides it marks it as required.
  ///
  /// It should not touch the URL: that is what ``loadMetadata()`` is for.
  ///
  /// - Parameters:
  ///   - root: The coordinator that adds the store.
  ///   - name: The configuration; nil for all entities of the model.
  ///   - url: Where the store is or is to be.
  ///   - options: What the store was added with.
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

  /// The type of the store, under which its class is registered: what the metadata say, unless a subclass says it.
  open var type: String { metadata?[NSStoreTypeKey] as? String ?? "" }

  /// What tells the store from all others; in its metadata under ``NSStoreUUIDKey``.
  ///
  /// It is part of the identifiers of its objects: setting it has no effect on them until the store is added anew.
  open var identifier: String! {
    get { metadata?[NSStoreUUIDKey] as? String }
    set {
      var changed: [String: Any] = metadata ?? [:]
      changed[NSStoreUUIDKey] = newValue
      metadata = changed
    }
  }

  /// Opens the store, or makes it if there is nothing at its URL or an empty file, and sets ``metadata``. Every store
  /// overrides it. A coordinator calls it once, before anything else.
  ///
  /// - Throws: Why the store cannot be used; it is not added then.
  open func loadMetadata() throws { abstract() }

  /// The store is now among those of the coordinator. Does nothing unless a subclass overrides it.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// The store is about to be removed from the coordinator: the place to close files. Does nothing unless a subclass
  /// overrides it.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  /// The metadata of the store at `url`, without adding it. Every store whose metadata outlive it overrides this.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw notOverridden("metadataForPersistentStore(with:)")
  }

  /// Replaces the metadata of the store at `url` at once, without adding it. Every store whose metadata outlive it
  /// overrides this.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    throw notOverridden("setMetadata(_:forPersistentStoreAt:)")
  }

  /// Removes the store at `url` and all it consists of; there may be none. Unless a subclass overrides it, the file or
  /// folder there is removed. Apple's class has no such method: a store of one's own cannot be destroyed there.
  open class func destroyPersistentStore(at url: URL, options: [AnyHashable: Any]?) throws {
    guard url.isFileURL, FileManager.default.fileExists(atPath: url.path) else { return }
    try FileManager.default.removeItem(at: url)
  }

  /// Puts a copy of the store at `sourceURL` in the place of the one at `destinationURL`; there may be none. Nobody may use the latter, nor
  /// write to the former.
  ///
  /// Unless a subclass overrides it, the file or folder is copied under another name beside the destination, which it gets when it is on disk:
  /// the old one goes away at that moment or, if anything fails, stays. A folder is renamed before another one gets its name; if the
  /// process ends between the two, both are beside the destination under names that begin with a dot. A store that
  /// consists of several files side by side has to override it. The copy has the identifier of the original, so no coordinator can have both.
  ///
  /// Apple's class has no such method: a store of one's own cannot be replaced there.
  ///
  /// - Throws: ``NSPersistentStoreOperationError`` if there is no source or it is the destination; errors of the file system.
  open class func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]?
  ) throws {
    try StoreReplacement.replace(destinationURL, withCopyOf: sourceURL)
  }

  /// To be called once, when the metadata are loaded.
  func fix(_ uuid: String, entities: [NSEntityDescription]) {
    identity = StoreIdentity(uuid, of: self)
    entityNames = Set(entities.compactMap(\.name))
  }

  /// Stops the program: a subclass lacks a method.
  func abstract(_ method: String = #function) -> Never {
    fatalError("\(Swift.type(of: self)) does not override \(method), as every store must.")
  }

  private static func notOverridden(_ method: String) -> NSError {
    CoreDataError.make(NSPersistentStoreOperationError, "The store class \(self) does not override \(method).")
  }
}
