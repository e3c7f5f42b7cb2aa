import Foundation

/// A row that a store returns: the values of an object and their version.
///
/// A store may return the same node more than once, and may update it, but only while one of its methods is being
/// called: contexts keep the values and the version that the node had when it was returned.
///
/// A subclass may read values from wherever they are. Contexts read a node of a subclass itself, on their own queues
/// and after the store's method has returned, so several threads may read it at once. Its values and its version must
/// not change once it has been returned.
open class NSIncrementalStoreNode: NSObject {
  /// The identifier of the object.
  public let objectID: NSManagedObjectID

  /// The version of the row: 1 when it is first saved, higher each time it is saved again.
  open var version: UInt64 { givenVersion }

  private var givenVersion: UInt64
  private var values: [String: Any]

  /// Makes a row.
  ///
  /// - Parameters:
  ///   - objectID: The identifier of the object.
  ///   - values: The values by the names of properties: attributes, without those that are nil, and to-one
  ///     relationships as identifiers or `NSNull`. Other keys do no harm.
  ///   - version: The version of the row.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    givenVersion = version
  }

  /// Replaces all values, given as for the initialiser, and the version.
  open func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    givenVersion = version
  }

  /// The node itself, or a copy if the store might update the node. To be called under the store lock.
  final var atThisMoment: NSIncrementalStoreNode {
    guard type(of: self) == NSIncrementalStoreNode.self else { return self }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: givenVersion)
  }

  /// The value of a property; nil if the row does not have it, `NSNull` for a to-one relationship without an object.
  open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
