public import Foundation

/// What a store to be added is and where: type, place, configuration, options.
///
/// Used by one thread at a time.
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// The type under which the class of the store is registered: ``NSSQLiteStoreType``, as Apple's, unless set. No class
  /// is registered for that type here, so set another one.
  open var type = NSSQLiteStoreType

  /// Where the store is or is to be; `/dev/null` for a store that is nowhere.
  open var url: URL?

  /// The configuration of the model whose entities the store keeps; nil for all.
  open var configuration: String?

  /// Whether the store is opened on another thread, while the caller goes on.
  open var shouldAddStoreAsynchronously = false

  /// What the store is to know, under the names of options.
  open private(set) var options: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]

  /// A store that is nowhere.
  public override init() { url = URL(fileURLWithPath: "/dev/null") }

  /// A store at that place.
  public init(url: URL) { self.url = url }

  private init(copying other: NSPersistentStoreDescription) {
    type = other.type
    url = other.url
    configuration = other.configuration
    shouldAddStoreAsynchronously = other.shouldAddStoreAsynchronously
    options = other.options
  }

  /// Sets an option; nil leaves it out.
  open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

  /// The pragmas for a SQLite store: the option ``NSSQLitePragmasOption``. There are no SQLite stores here.
  open var sqlitePragmas: [String: NSObject] { options[NSSQLitePragmasOption] as? [String: NSObject] ?? [:] }

  /// Sets a pragma for a SQLite store; nil leaves it out.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    setOption(NSDictionary(dictionary: pragmas), forKey: NSSQLitePragmasOption)
  }

  /// Whether the store must not be written to: the option ``NSReadOnlyPersistentStoreOption``, false unless set.
  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
  }

  /// For how many seconds the store may try to answer: the option ``NSPersistentStoreTimeoutOption``, 240 unless set.
  open var timeout: TimeInterval {
    get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
  }

  /// Whether the store may migrate what an older model has written: the option
  /// ``NSMigratePersistentStoresAutomaticallyOption``, true unless set.
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
  }

  /// Whether a migration may find out by itself how two models differ: the option
  /// ``NSInferMappingModelAutomaticallyOption``, true unless set.
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
  }

  private func flag(_ option: String) -> Bool { (options[option] as? NSNumber)?.boolValue == true }

  /// A description that says the same.
  open func copy(with zone: NSZone? = nil) -> Any { NSPersistentStoreDescription(copying: self) }
}
