import CoreData

/// Keeps bugs in a file: reads all bugs when the store is opened, and writes all at every save.
class BugSquasherIncrementalStore: NSIncrementalStore {
  /// The bugs, the oldest first.
  var bugsDB: [StoredBug] = []

  /// The type that the store is registered under, which its metadata must name.
  class var storeType: String { containerName + "." + String(describing: BugSquasherIncrementalStore.self) }

  // MARK: - Metadata

  override func loadMetadata() throws {
    let file: BugsFile
    if BugsFile.exists(at: url!) {
      file = try BugsFile(at: url!)
    } else {
      let uuid = BugSquasherIncrementalStore.identifierForNewStore(at: url!)
      file = BugsFile(metadata: [NSStoreTypeKey: BugSquasherIncrementalStore.storeType, NSStoreUUIDKey: uuid])
      try file.write(to: url!)
    }
    metadata = file.metadata
    bugsDB = file.bugs
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try BugsFile(at: url).metadata
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    var file = try BugsFile(at: url)
    file.metadata = metadata ?? [:]
    try file.write(to: url)
  }

  // MARK: - Requests

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    switch request.requestType {
    case .fetchRequestType:
      return try fetch(request as! NSFetchRequest<NSManagedObject>, with: context!)
    case .saveRequestType:
      try save(request as! NSSaveChangesRequest)
      return [Any]()
    default:
      throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
    }
  }

  private func fetch(_ request: NSFetchRequest<NSManagedObject>, with context: NSManagedObjectContext) throws -> Any {
    let bugIDs = bugIDs(for: request)
    let objectIDs = bugIDs.map { newObjectID(for: request.entity!, referenceObject: $0) }
    switch request.resultType {
    case .managedObjectResultType: return objectIDs.map(context.object(with:))
    case .managedObjectIDResultType: return objectIDs
    case .countResultType: return [NSNumber(value: objectIDs.count)]
    default: throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
    }
  }

  /// The `bugID`s of the bugs that a request asks for: those that match its predicate, in its order, from its offset up
  /// to its limit.
  private func bugIDs(for request: NSFetchRequest<NSManagedObject>) -> [String] {
    let found = bugsDB.map { $0.values as NSDictionary }.filter { request.predicate?.evaluate(with: $0) ?? true }
    let sorted = NSArray(array: found).sortedArray(using: request.sortDescriptors ?? [])
    let bugIDs = sorted.map { ($0 as! NSDictionary)["bugID"] as! String }.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? bugIDs.prefix(request.fetchLimit) : bugIDs)
  }

  /// Changes a copy of the bugs, and adopts it once it is written to the file: a save takes place as a whole or not at
  /// all.
  private func save(_ request: NSSaveChangesRequest) throws {
    var bugs = bugsDB
    for bug in request.insertedObjects ?? [] { bugs.append(StoredBug(bug as! Bug)) }
    for bug in request.updatedObjects ?? [] {
      let index = try index(of: bug.objectID)
      bugs[index].title = (bug as! Bug).title!
      bugs[index].version += 1
    }
    for bug in request.lockedObjects ?? [] { bugs[try index(of: bug.objectID)].version += 1 }
    let deleted = Set((request.deletedObjects ?? []).map { referenceObject(for: $0.objectID) as! String })
    bugs.removeAll { deleted.contains($0.bugID) }
    try saveBugs(bugs)
    bugsDB = bugs
  }

  private func saveBugs(_ bugs: [StoredBug]) throws {
    try BugsFile(metadata: metadata, bugs: bugs).write(to: url!)
  }

  // MARK: - Objects

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: $0.value(forKey: "bugID")!) }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let bug = bugsDB[try index(of: objectID)]
    return NSIncrementalStoreNode(objectID: objectID, withValues: bug.values, version: bug.version)
  }

  private func index(of objectID: NSManagedObjectID) throws -> Int {
    let bugID = referenceObject(for: objectID) as! String
    guard let index = bugsDB.firstIndex(where: { $0.bugID == bugID }) else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    return index
  }
}
