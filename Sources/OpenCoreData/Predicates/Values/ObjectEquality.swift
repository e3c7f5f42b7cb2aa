import Foundation

/// An object that predicates compare by what identifies it, as they do a managed object and its object ID.
package protocol Identified {
  /// What identifies the object; compared by its own equality.
  var predicateIdentity: AnyHashable { get }
}

/// What identifies an object and has an order among others of its kind.
protocol OrderedIdentity {
  /// The order of two; nil if they have none.
  func order(_ other: Any) -> ComparisonResult?
}

extension PredicateValue {
  /// Whether the value will always be equal to what it is equal to now. An object that is not saved will not, nor will
  /// one that is equal to others by what it has for keys.
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

/// The equality of values that predicates know nothing about.
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

  /// Values bridge to objects that compare as they do. An identifier is told by its exact type: there are many of them,
  /// and the search for a conformance takes longer than all else.
  private static func reference(_ value: Any) -> AnyObject {
    if type(of: value) == NSManagedObjectID.self, let id = value as? NSManagedObjectID { return id }
    return (value as? any Identified)?.predicateIdentity.base as AnyObject? ?? value as AnyObject
  }
}
