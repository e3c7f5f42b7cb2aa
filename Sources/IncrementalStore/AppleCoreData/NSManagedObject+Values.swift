import CoreData

/// How the members of a to-many relationship have changed since the last save.
struct MemberChanges {
  /// New members, in their order.
  let added: [NSManagedObjectID]
  /// Former members.
  let removed: [NSManagedObjectID]
  /// The new order of the members; nil for an unordered relationship.
  let order: [NSManagedObjectID]?
}

/// The values that a save reads from an object.
extension NSManagedObject {
  /// The value of an attribute or a to-one relationship. The object must not be a fault.
  func value(of field: EntityMap.StoredField) -> ManagedValue {
    let value = value(forKey: field.name)
    return switch field.kind {
    case .attribute(let attribute): ManagedValue(value, of: attribute)
    case .toOne: (value as? NSManagedObject).map { .reference($0.objectID) } ?? .null
    }
  }

  /// The members of a to-many relationship.
  func members(of set: EntityMap.StoredSet) -> [NSManagedObjectID] { identifiers(in: value(forKey: set.name)) }

  /// Whether a save is certain to find another object among the new members of a to-many relationship.
  func hasAdded(_ other: NSManagedObject, at slot: Int, isInserted: Bool) -> Bool { false }

  /// How the members of a to-many relationship have changed; nil if they have not.
  func memberChanges(of set: EntityMap.StoredSet) -> MemberChanges? {
    guard let value = changedValues()[set.name] else { return nil }
    let members = identifiers(in: value)
    let old = identifiers(in: committedValues(forKeys: [set.name])[set.name])
    let (memberSet, oldSet) = (Set(members), Set(old))
    return MemberChanges(
      added: members.filter { !oldSet.contains($0) }, removed: old.filter { !memberSet.contains($0) },
      order: set.end.isOrdered ? members : nil)
  }

  /// The version of the row that the context has last read or saved. Always nil: Core Data does not publish it, and
  /// itself compares it with the version of the node that the store has returned.
  var contextVersion: UInt64? { nil }

  /// The revision of the row that the context has last read or saved. Always nil.
  var contextRevision: UInt64? { nil }

  private func identifiers(in collection: Any?) -> [NSManagedObjectID] {
    let members: [Any] =
      switch collection {
      case let set as NSSet: set.allObjects
      case let set as NSOrderedSet: set.array
      default: []
      }
    return members.compactMap { ($0 as? NSManagedObject)?.objectID }
  }
}

extension NSMergeConflict {
  /// The revision of the stored row, which Core Data does not need: nothing keeps it.
  var revision: UInt64? {
    get { nil }
    set {}
  }
}
