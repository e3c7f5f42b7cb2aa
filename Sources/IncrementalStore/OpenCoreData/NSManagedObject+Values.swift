import OpenCoreData

/// How the members of a to-many relationship have changed since the last save.
typealias MemberChanges = OpenCoreData.MemberChanges

/// What a save reads of an object.
extension NSManagedObject {
  /// The value of an attribute or a to-one relationship. The object is no fault.
  func value(of field: EntityMap.StoredField) -> ManagedValue { storedValue(at: field.slot) ?? .null }

  /// The members of a to-many relationship.
  func members(of set: EntityMap.StoredSet) -> [NSManagedObjectID] { knownMembers(at: set.slot) }

  /// How the members of a to-many relationship have changed; nil if they have not.
  func memberChanges(of set: EntityMap.StoredSet) -> MemberChanges? { memberChanges(at: set.slot) }

  /// The version of its row that the context has read or saved last; nil if nobody says.
  var contextVersion: UInt64? { knownVersion }
}
