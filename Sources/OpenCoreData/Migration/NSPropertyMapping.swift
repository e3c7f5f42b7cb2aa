public import Foundation

/// How a migration computes the value of a property of a new object.
///
/// Used by one thread at a time.
open class NSPropertyMapping: NSObject {
  /// The name of the property in the destination entity.
  open var name: String?

  /// The expression for the value; nil to leave the property as it is in a new object.
  ///
  /// It is evaluated with the object of the source, and with the variables that ``NSEntityMigrationPolicy`` lists. The
  /// value of a relationship is an object, or a collection of objects, of the destination.
  open var valueExpression: NSExpression?

  /// Anything the application wants to note.
  open var userInfo: [AnyHashable: Any]?
}
