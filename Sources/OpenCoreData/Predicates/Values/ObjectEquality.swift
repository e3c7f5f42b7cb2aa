import Foundation

/// An object that predicates compare by its identity, as they compare a managed object by its object ID.
package protocol Identified {
  /// The identity of the object; compared by its own equality.
  var predicateIdentity: AnyHashable { get }
}

/// An identity that has an order among others of its kind.
protocol OrderedIdentity {
  /// The order of this identity and another one; nil if they have none.
  func order(_ other: Any) -> ComparisonResult?
}

extension PredicateValue {
  /// Whether the value will always be equal to the values that it equals now. False for an object that is not saved,
  /// whose identifier changes, and for other objects that have values for keys, which may decide their equality.
  var hasFixedIdentity: Bool {
    switch self {
    case .collection(let elements, _): elements.allSatisfy(\.hasFixedIdentity)
    case .object(let object) where type(of: object) == NSManagedObjectID.self: true
    case .object(let object as any Identified):
      (object.predicateIdentity.base as? NSManagedObjectID)?.isTemporaryID != true
    case .object(let object): keyValues(of: object) == nil
    default: true
    }
  }
}

/// The equality, order and hash of values that have no form of their own in ``PredicateValue``.
enum ObjectEquality {
  static func equal(_ left: Any, _ right: Any) -> Bool {
    let (left, right) = (reference(left), reference(right))
    return left === right || (left as? NSObject)?.isEqual(right) == true
  }

  static func order(_ left: Any, _ right: Any) -> ComparisonResult? {
    (reference(left) as? any OrderedIdentity)?.order(reference(right))
  }

  static func hash(_ value: Any, into hasher: inout Hasher) {
    let reference = reference(value)
    if let object = reference as? NSObject {
      hasher.combine(object.hash)
    } else {
      hasher.combine(ObjectIdentifier(reference))
    }
  }

  /// The object to compare instead of a value: its identity, or the object that it bridges to, which compares as the
  /// value does. An object ID is recognised by its exact type: there are many of them, and the search for a conformance
  /// takes longer than everything else.
  private static func reference(_ value: Any) -> AnyObject {
    if type(of: value) == NSManagedObjectID.self, let id = value as? NSManagedObjectID { return id }
    return (value as? any Identified)?.predicateIdentity.base as AnyObject? ?? value as AnyObject
  }
}
