public import Foundation

/// Describes a store to be added: its type, location, configuration and options.
///
/// Used by one thread at a time.
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// The type under which the class of the store is registered; by default ``NSSQLiteStoreType``, as in Apple's Core
  /// Data. No class is registered for that type here, so set another one.
  open var type = NSSQLiteStoreType

  /// The location of the store, which may not exist yet; `/dev/null` for a store without a location.
  open var url: URL?

  /// The configuration of the model whose entities the store keeps; nil for all.
  open var configuration: String?

  /// Whether the store is opened on another thread, while the caller goes on.
  open var shouldAddStoreAsynchronously = false

  /// The options for the store, by their names.
  open private(set) var options: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]

  /// The file that has made the description; empty if it is not known.
  let fileID: String

  /// Describes a store without a location.
  @_disfavoredOverload
  public override init() {
    url = nowhere
    fileID = ""
  }

  /// Describes a store at a URL.
  @_disfavoredOverload
  public init(url: URL) {
    self.url = url
    fileID = ""
  }

  /// Describes a store without a location.
  ///
  /// - Parameter fileID: The file of the caller, in whose module the classes of the store's entities are looked for,
  ///   too; see ``NSManagedObjectModel/init(fileID:)``.
  public init(fileID: String = #fileID) {
    url = nowhere
    self.fileID = fileID
  }

  /// Describes a store at a URL.
  ///
  /// - Parameters:
  ///   - url: The location of the store.
  ///   - fileID: See ``init(fileID:)``.
  public init(url: URL, fileID: String = #fileID) {
    self.url = url
    self.fileID = fileID
  }

  private init(copying other: NSPersistentStoreDescription) {
    type = other.type
    url = other.url
    fileID = other.fileID
    configuration = other.configuration
    shouldAddStoreAsynchronously = other.shouldAddStoreAsynchronously
    options = other.options
  }

  /// Sets an option; nil removes it.
  open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

  /// The pragmas for a SQLite store: the option ``NSSQLitePragmasOption``. There are no SQLite stores here.
  open var sqlitePragmas: [String: NSObject] { options[NSSQLitePragmasOption] as? [String: NSObject] ?? [:] }

  /// Sets a pragma for a SQLite store; nil removes it.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    setOption(NSDictionary(dictionary: pragmas), forKey: NSSQLitePragmasOption)
  }

  /// Whether the store must not be written to: the option ``NSReadOnlyPersistentStoreOption``, false by default.
  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
  }

  /// How many seconds the store may take to answer: the option ``NSPersistentStoreTimeoutOption``, 240 by default.
  open var timeout: TimeInterval {
    get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
  }

  /// Whether the store may migrate data that were written with an older model: the option
  /// ``NSMigratePersistentStoresAutomaticallyOption``, true by default.
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
  }

  /// Whether a migration may determine the differences between two models by itself: the option
  /// ``NSInferMappingModelAutomaticallyOption``, true by default.
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
  }

  private func flag(_ option: String) -> Bool { (options[option] as? NSNumber)?.boolValue == true }

  /// A copy of the description.
  open func copy(with zone: NSZone? = nil) -> Any { NSPersistentStoreDescription(copying: self) }
}
