import CoreData

extension CustomIncrementalStore {
  func say(_ text: String) { print("    store: \(text)") }

  func name(_ objectID: NSManagedObjectID) -> String { "\(objectID.entity.name!) \(number(objectID))" }

  /// The number of the row that an identifier stands for. In an identifier made from a URI, the number is a string.
  func number(_ objectID: NSManagedObjectID) -> Int { Int("\(referenceObject(for: objectID))")! }

  func row(_ objectID: NSManagedObjectID) throws -> Row {
    guard let row = table.rows[number(objectID)] else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    return row
  }

  /// The identifier of the object at the other end of a relationship; nil if there is none.
  func objectID(of number: Any?, _ relationship: NSRelationshipDescription) -> NSManagedObjectID? {
    (number as? Int).map {
      newObjectID(for: relationship.destinationEntity!, referenceObject: NSNumber(value: $0))
    }
  }
}
