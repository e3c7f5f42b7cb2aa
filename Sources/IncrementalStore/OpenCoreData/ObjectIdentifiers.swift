import OpenCoreData

/// An identifier as the key of a dictionary.
typealias IDKey = OpenCoreData.IDKey

extension NSIncrementalStore {
  /// The identifier of the object that the store refers to by a number.
  func objectID(_ number: Int64, of entity: NSEntityDescription) -> NSManagedObjectID {
    newObjectID(for: entity, number: number)
  }

  /// The number that the store refers to an object by; nil for anything else.
  func number(of id: NSManagedObjectID) -> Int64? { id.integerReference }

  /// The text that the store refers to an object by; nil for anything else.
  func text(of id: NSManagedObjectID) -> String? { id.stringReference }
}
