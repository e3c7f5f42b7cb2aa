// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation

public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

public enum NSPersistentStoreRequestType: UInt, Sendable {
  case fetchRequestType = 1
  case saveRequestType
  case batchInsertRequestType = 5
  case batchUpdateRequestType
  case batchDeleteRequestType
}

open class NSPersistentStoreRequest: NSObject {
  open var affectedStores: [NSPersistentStore]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var requestType: NSPersistentStoreRequestType { fatalError() }
}

public struct NSFetchRequestResultType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static var managedObjectResultType: NSFetchRequestResultType { fatalError() }
  public static var managedObjectIDResultType: NSFetchRequestResultType { fatalError() }
  public static var dictionaryResultType: NSFetchRequestResultType { fatalError() }
  public static var countResultType: NSFetchRequestResultType { fatalError() }
}

open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
  public override init() { fatalError() }
  public convenience init(entityName: String) { fatalError() }
  open var entity: NSEntityDescription? {
    get { fatalError() }
    set { fatalError() }
  }
  open var entityName: String? { fatalError() }
  open var predicate: NSPredicate? {
    get { fatalError() }
    set { fatalError() }
  }
  open var sortDescriptors: [NSSortDescriptor]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var fetchLimit: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open var fetchOffset: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open var fetchBatchSize: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open var resultType: NSFetchRequestResultType {
    get { fatalError() }
    set { fatalError() }
  }
  open var includesSubentities: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var includesPropertyValues: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var returnsObjectsAsFaults: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var relationshipKeyPathsForPrefetching: [String]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var includesPendingChanges: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var returnsDistinctResults: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var propertiesToFetch: [Any]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var shouldRefreshRefetchedObjects: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var propertiesToGroupBy: [Any]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var havingPredicate: NSPredicate? {
    get { fatalError() }
    set { fatalError() }
  }
}

open class NSSaveChangesRequest: NSPersistentStoreRequest {
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) { fatalError() }
  open var insertedObjects: Set<NSManagedObject>? { fatalError() }
  open var updatedObjects: Set<NSManagedObject>? { fatalError() }
  open var deletedObjects: Set<NSManagedObject>? { fatalError() }
  open var lockedObjects: Set<NSManagedObject>? { fatalError() }
}
