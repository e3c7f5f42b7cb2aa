import OpenCoreData

extension NSIncrementalStore {
  /// The identifier of the object whose reference is a number.
  func objectID(_ number: Int64, of entity: NSEntityDescription) -> NSManagedObjectID {
    newObjectID(for: entity, number: number)
  }
}

extension RowAccess {
  /// The number that is the reference of an object; nil if its reference is not a number.
  func number(of id: NSManagedObjectID) -> Int64? { id.integerReference }

  /// The string that is the reference of an object; nil if its reference is not a string.
  func text(of id: NSManagedObjectID) -> String? { id.stringReference }
}
