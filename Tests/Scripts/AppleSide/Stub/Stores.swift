// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation

open class NSPersistentStore: NSObject {
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { fatalError() }
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws { fatalError() }
  open class func migrationManagerClass() -> AnyClass { fatalError() }
  public init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) { fatalError() }
  open func loadMetadata() throws { fatalError() }
  public private(set) final weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  open var configurationName: String { fatalError() }
  open var options: [AnyHashable: Any]? { fatalError() }
  open var url: URL? {
    get { fatalError() }
    set { fatalError() }
  }
  open var identifier: String! {
    get { fatalError() }
    set { fatalError() }
  }
  open var type: String { fatalError() }
  open var isReadOnly: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var metadata: [String: Any]! {
    get { fatalError() }
    set { fatalError() }
  }
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) { fatalError() }
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) { fatalError() }
}

extension NSPersistentStore {
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let sqlite = StoreType(rawValue: "SQLite")
    public static let binary = StoreType(rawValue: "Binary")
    public static let inMemory = StoreType(rawValue: "InMemory")
  }
}

open class NSIncrementalStore: NSPersistentStore {
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    fatalError()
  }
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { fatalError() }
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { fatalError() }
  open class func identifierForNewStore(at storeURL: URL) -> Any { fatalError() }
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { fatalError() }
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) { fatalError() }
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) { fatalError() }
  open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    fatalError()
  }
  open func referenceObject(for objectID: NSManagedObjectID) -> Any { fatalError() }
}

open class NSIncrementalStoreNode: NSObject {
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) { fatalError() }
  open func update(withValues values: [String: Any], version: UInt64) { fatalError() }
  open var objectID: NSManagedObjectID { fatalError() }
  open var version: UInt64 { fatalError() }
  open func value(for prop: NSPropertyDescription) -> Any? { fatalError() }
}

open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  public init(managedObjectModel model: NSManagedObjectModel) { fatalError() }
  open var managedObjectModel: NSManagedObjectModel { fatalError() }
  open var persistentStores: [NSPersistentStore] { fatalError() }
  open class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) { fatalError() }
  open class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) { fatalError() }
  open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? { fatalError() }
  open func performAndWait<T>(_ block: () throws -> T) rethrows -> T { fatalError() }
}

open class NSPersistentStoreDescription: NSObject {
  public init(url: URL) { fatalError() }
  open var type: String {
    get { fatalError() }
    set { fatalError() }
  }
  open var configuration: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var url: URL? {
    get { fatalError() }
    set { fatalError() }
  }
  open var options: [String: Foundation.NSObject] { fatalError() }
  open func setOption(_ option: Foundation.NSObject?, forKey key: String) { fatalError() }
  open var isReadOnly: Bool {
    get { fatalError() }
    set { fatalError() }
  }
}
