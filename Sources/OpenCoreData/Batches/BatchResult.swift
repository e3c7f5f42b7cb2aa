extension NSPersistentStoreRequest {
  /// The key of the number of objects that a failed batch request has saved, an `Int`, in the user info of its error.
  /// Only the errors of requests that save some objects at a time have it.
  public static let savedCountErrorKey = "SavedObjectCount"
}

/// What a batch request has changed: the number of objects, and their identifiers if the result has them.
package struct BatchIDs {
  /// The number of objects.
  package private(set) var count = 0
  /// Their identifiers; empty if the result has none.
  package private(set) var objectIDs: [NSManagedObjectID] = []
  private let areWanted: Bool

  package init(areWanted: Bool) { self.areWanted = areWanted }

  package mutating func add(_ id: @autoclosure () -> NSManagedObjectID) {
    count += 1
    if areWanted { objectIDs.append(id()) }
  }
}

struct BatchResult<ResultType> {
  let type: ResultType
  let result: Any

  init(_ type: ResultType, _ result: Any) { (self.type, self.result) = (type, result) }
}
