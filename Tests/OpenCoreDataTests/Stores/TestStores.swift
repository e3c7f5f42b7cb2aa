import OpenCoreData
import Synchronization
import Testing

/// A store without rows, which takes its metadata from the options and counts how often it was opened.
class TestStore: NSIncrementalStore {
  private(set) var openings = 0
  var registered: [[NSManagedObjectID]] = []
  private(set) var requests: [NSPersistentStoreRequest] = []
  var answer: Any = NSNull()

  override func loadMetadata() throws {
    openings += 1
    if let error = options?["error"] as? NSError { throw error }
    metadata = options?["metadata"] as? [String: Any] ?? [NSStoreTypeKey: "Test", NSStoreUUIDKey: UUID().uuidString]
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    requests.append(request)
    return answer
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { answer }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    registered.append(objectIDs)
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    saved.withLock { $0.map { ["note": $0] } ?? [:] }
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    let note = metadata?["note"] as? String
    saved.withLock { $0 = note }
  }

  private static let saved = Mutex<String?>(nil)
}

/// The store type under which ``TestStore`` is registered.
let testType: NSPersistentStore.StoreType = {
  let type = NSPersistentStore.StoreType(rawValue: "Test")
  NSPersistentStoreCoordinator.registerStoreClass(TestStore.self, type: type)
  return type
}()

extension NSPersistentStoreCoordinator {
  /// Adds a ``TestStore``, which neither reads nor writes anything at its path.
  @discardableResult
  func addTestStore(
    at path: String = "/dev/null", metadata: [String: Any]? = nil, options: [String: Any] = [:]
  ) throws -> TestStore {
    var options = options
    options["metadata"] = metadata
    let store = try addPersistentStore(type: testType, at: URL(fileURLWithPath: path), options: options)
    return try #require(store as? TestStore)
  }
}

/// The code of the Core Data error that the block throws; nil if it throws none.
func errorCode(_ block: () throws -> Void) -> Int? {
  do {
    try block()
    return nil
  } catch {
    let error = error as NSError
    return error.domain == NSCocoaErrorDomain ? error.code : nil
  }
}

/// The text of the error that the block throws; empty if it throws none.
func errorText(_ block: () throws -> Void) -> String {
  do {
    try block()
    return ""
  } catch {
    return error.localizedDescription
  }
}
