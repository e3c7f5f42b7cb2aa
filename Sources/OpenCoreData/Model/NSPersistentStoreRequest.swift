public import Foundation

/// What a request to a store is for. The raw values are those of Core Data.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// Objects, their identifiers, their number, or values.
  case fetchRequestType = 1
  /// Changes that are to become permanent.
  case saveRequestType = 2
  /// Rows that are inserted without objects.
  case batchInsertRequestType = 5
  /// Rows that are changed without objects.
  case batchUpdateRequestType = 6
  /// Rows that are deleted without objects.
  case batchDeleteRequestType = 7
}

/// Something a store is asked to do; use a subclass.
open class NSPersistentStoreRequest: NSObject {
  /// What the request is for; every subclass says so.
  open var requestType: NSPersistentStoreRequestType {
    preconditionFailure("\(type(of: self)) does not say what it is for.")
  }

  /// Which of the coordinator's stores are asked; nil for all.
  open var affectedStores: [NSPersistentStore]?
}
