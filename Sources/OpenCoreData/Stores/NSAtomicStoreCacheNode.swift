public import Foundation

/// The values of an object in an ``NSAtomicStore``: attributes as the object has them, the node at the other end of a
/// to-one relationship, and a collection of nodes for a to-many one, in order if the relationship is ordered.
open class NSAtomicStoreCacheNode: NSObject {
  /// The identifier of the object.
  public let objectID: NSManagedObjectID

  /// The values by the names of the properties; nil before the first value is set.
  open var propertyCache: NSMutableDictionary?

  /// A node without values.
  public init(objectID moid: NSManagedObjectID) { objectID = moid }

  /// The value of a property; nil if it has none.
  open func value(forKey key: String) -> Any? { propertyCache?[key] }

  /// Sets the value of a property; nil for none.
  open func setValue(_ value: Any?, forKey key: String) {
    let cache = propertyCache ?? NSMutableDictionary()
    cache[key] = value
    propertyCache = cache
  }
}
