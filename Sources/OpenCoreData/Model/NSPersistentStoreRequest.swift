public import Foundation

/// The purpose of a request to a store. The raw values are those of Core Data.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// Fetches objects, their identifiers, their number, or values.
  case fetchRequestType = 1
  /// Makes changes permanent.
  case saveRequestType = 2
  /// Inserts rows without making objects.
  case batchInsertRequestType = 5
  /// Changes rows without making objects.
  case batchUpdateRequestType = 6
  /// Deletes rows without making objects.
  case batchDeleteRequestType = 7
}

/// A request to a store; use a subclass.
open class NSPersistentStoreRequest: NSObject {
  /// The purpose of the request. Every subclass overrides this property, which traps otherwise.
  open var requestType: NSPersistentStoreRequestType {
    fatalError("\(type(of: self)) does not say what it is for.")
  }

  /// The coordinator's stores to which the request goes; nil for all.
  open var affectedStores: [NSPersistentStore]?
}
