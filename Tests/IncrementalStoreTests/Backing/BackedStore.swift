import CoreData
import IncrementalStore

/// A row store whose rows are those of a ``Backing``.
class BackedStore: RowIncrementalStore {
  override class var storeType: String { String(reflecting: self) }

  override class func identifierForNewStore(at storeURL: URL) -> Any { storeURL.lastPathComponent }

  override class func rowStore(at url: URL, options: [AnyHashable: Any]?) throws -> any RowStore {
    try (options![Backing.option] as! Backing).rowStore()
  }

  var backing: Backing { options![Backing.option] as! Backing }

  override func loadMetadata() throws {
    try backing.prepare(persistentStoreCoordinator!.managedObjectModel, Self.storeType)
    try super.loadMetadata()
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    let identifiers = try super.obtainPermanentIDs(for: array)
    for id in identifiers { backing.note(id.entity.name!, referenceObject(for: id)) }
    return identifiers
  }

  func entity(_ name: String) -> NSEntityDescription {
    persistentStoreCoordinator!.managedObjectModel.entitiesByName[name]!
  }

  /// The identifier of a row.
  func identifier(_ number: Int) -> NSManagedObjectID {
    let (entityName, reference) = backing.reference(number)
    return newObjectID(for: entity(entityName), referenceObject: reference)
  }

  /// The number of the row that an identifier stands for; 0 if there has never been such a row.
  func number(_ objectID: NSManagedObjectID) -> Int { backing.number(referenceObject(for: objectID)) ?? 0 }
}

/// Answers with the rows that it already knows, however old they are.
final class CachingStore: RecordingStore {
  override class var stalenessInterval: TimeInterval { -1 }
}

/// Detects violations of uniqueness constraints, as every row store does.
final class UniqueStore: RecordingStore {}

extension NSPersistentStoreCoordinator {
  /// Adds an empty store that enforces uniqueness constraints.
  func addUniqueStore() throws { _ = try add(RecordingStore.self, Backing()) }
}
