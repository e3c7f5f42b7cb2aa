// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation

public final class NSManagedObjectID: NSObject, NSFetchRequestResult, @unchecked Sendable {
  private override init() { fatalError() }
  public var entity: NSEntityDescription { fatalError() }
  public private(set) weak var persistentStore: NSPersistentStore?
  public var isTemporaryID: Bool { fatalError() }
  public func uriRepresentation() -> URL { fatalError() }
}

open class NSManagedObject: NSObject, NSFetchRequestResult {
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) { fatalError() }
  public convenience init(context moc: NSManagedObjectContext) { fatalError() }
  public final unowned(unsafe) let managedObjectContext: NSManagedObjectContext? = { fatalError() }()
  open var entity: NSEntityDescription { fatalError() }
  open var objectID: NSManagedObjectID { fatalError() }
  open var isInserted: Bool { fatalError() }
  open var isUpdated: Bool { fatalError() }
  open var isDeleted: Bool { fatalError() }
  open var hasChanges: Bool { fatalError() }
  open var hasPersistentChangedValues: Bool { fatalError() }
  open var isFault: Bool { fatalError() }
  open func hasFault(forRelationshipNamed key: String) -> Bool { fatalError() }
  open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { fatalError() }
  open func primitiveValue(forKey key: String) -> Any? { fatalError() }
  open func setPrimitiveValue(_ value: Any?, forKey key: String) { fatalError() }
  open func committedValues(forKeys keys: [String]?) -> [String: Any] { fatalError() }
  open func changedValues() -> [String: Any] { fatalError() }
  open func changedValuesForCurrentEvent() -> [String: Any] { fatalError() }
}

open class NSManagedObjectContext: NSObject {
  public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) { fatalError() }
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { fatalError() }
    set { fatalError() }
  }
  open var parent: NSManagedObjectContext? {
    get { fatalError() }
    set { fatalError() }
  }
  open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { fatalError() }
  open func object(with objectID: NSManagedObjectID) -> NSManagedObject { fatalError() }
  open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject { fatalError() }
  open var stalenessInterval: TimeInterval {
    get { fatalError() }
    set { fatalError() }
  }
  open var mergePolicy: Any {
    get { fatalError() }
    set { fatalError() }
  }
  open func save() throws { fatalError() }
}

public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  case privateQueueConcurrencyType = 1
  case mainQueueConcurrencyType
}
