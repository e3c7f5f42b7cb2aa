import OpenCoreData

/// How the members of a to-many relationship have changed since the last save.
typealias MemberChanges = OpenCoreData.MemberChanges

/// The values that a save reads from an object.
extension NSManagedObject {
  /// The value of an attribute or a to-one relationship. The object must not be a fault.
  func value(of field: EntityMap.StoredField) -> ManagedValue { storedValue(at: field.slot) ?? .null }

  /// The members of a to-many relationship.
  func members(of set: EntityMap.StoredSet) -> [NSManagedObjectID] { knownMembers(at: set.slot) }

  /// How the members of a to-many relationship have changed; nil if they have not.
  func memberChanges(of set: EntityMap.StoredSet) -> MemberChanges? { memberChanges(at: set.slot) }

  /// The version of the row that the context has last read or saved; nil if unknown.
  var contextVersion: UInt64? { knownVersion }

  /// The revision of the row that the context has last read or saved; nil if unknown.
  var contextRevision: UInt64? { knownRevision }
}
