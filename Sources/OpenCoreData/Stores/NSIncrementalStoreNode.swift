import Foundation

/// A row as a store hands it out: the values of an object and their version.
///
/// It is read while the store is called, by one thread at a time. A subclass may read values from wherever they are.
open class NSIncrementalStoreNode: NSObject {
  /// The identifier of the object.
  public let objectID: NSManagedObjectID

  /// The version of the row: 1 when it is first saved, higher each time it is saved again.
  open var version: UInt64 { givenVersion }

  private var givenVersion: UInt64
  private var values: [String: Any]

  /// A row.
  ///
  /// - Parameters:
  ///   - values: The values by the names of properties: of attributes, nil left out; of to-one relationships identifiers
  ///     or `NSNull`. Other keys do no harm.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    givenVersion = version
  }

  /// Replaces all values, as the initialiser takes them, and the version.
  open func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    givenVersion = version
  }

  /// The value of a property; nil if the row does not have it, `NSNull` for a to-one relationship to nothing.
  open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
