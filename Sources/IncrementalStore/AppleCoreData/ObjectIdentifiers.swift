import CoreData

extension NSManagedObjectID {
  /// The upper half of the hash, mixed so that tables can use any of its bits.
  var cachedHash: UInt32 {
    UInt32(truncatingIfNeeded: (UInt64(truncatingIfNeeded: hash) &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }

  func isSame(as other: NSManagedObjectID) -> Bool { isEqual(other) }
}

extension NSIncrementalStore {
  /// The identifier of the object whose reference is a number.
  func objectID(_ number: Int64, of entity: NSEntityDescription) -> NSManagedObjectID {
    newObjectID(for: entity, referenceObject: NSNumber(value: number))
  }
}

extension RowAccess {
  /// The number that is the reference of an object; nil if its reference is not a number. In an identifier that was
  /// made from a URI, the reference is a string.
  func number(of id: NSManagedObjectID) -> Int64? {
    let reference = reference(of: id)
    return (reference as? NSNumber)?.int64Value ?? (reference as? String).flatMap { Int64($0) }
  }

  /// The string that is the reference of an object; nil if its reference is not a string.
  func text(of id: NSManagedObjectID) -> String? { reference(of: id) as? String }

  /// Nil for a temporary identifier or one of another store; `referenceObject(for:)` must not be called with these.
  private func reference(of id: NSManagedObjectID) -> Any? {
    id.isTemporaryID || id.persistentStore !== store ? nil : store.referenceObject(for: id)
  }
}
