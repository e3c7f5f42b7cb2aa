import Foundation

/// What a slot of a managed object holds.
package enum ManagedValue {
  /// No value.
  case null
  /// A whole number, or a boolean as 0 or 1.
  case integer(Int64)
  /// A floating-point number.
  case double(Double)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  /// A decimal number, a URL, or the value of an attribute type without a case of its own, such as a transformable one.
  indirect case other(Any)
  /// The identifier of the object at the other end of a to-one relationship that has not been read yet.
  case reference(NSManagedObjectID)
  /// The object at the other end of a to-one relationship.
  case object(NSManagedObject)
  /// The objects at the other end of a to-many relationship, as far as they are known.
  case members(RelatedObjects)
  /// The objects of a fetched property.
  case fetched([NSManagedObject])
  /// Not read yet: a to-many relationship, a fetched property, or any property of a fault.
  case fault
}

extension ManagedValue {
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The identifier of the object at the other end of a to-one relationship.
  package var objectID: NSManagedObjectID? {
    switch self {
    case .reference(let id): id
    case .object(let object): object.objectID
    default: nil
    }
  }

  /// Whether two values of a slot are equal. Values of types that only the application knows are compared as objects.
  package func isEqual(_ other: ManagedValue) -> Bool {
    switch (self, other) {
    case (.null, .null), (.fault, .fault): true
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): left == right || left.isNaN && right.isNaN
    case (.string(let left), .string(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.other(let left), .other(let right)): areEqual(left, right)
    case (.object(let left), .object(let right)): left === right
    case (.members(let left), .members(let right)): left === right
    default:
      if let left = objectID, let right = other.objectID { left == right } else { false }
    }
  }
}
