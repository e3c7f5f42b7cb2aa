import Foundation

/// What the row stores of this package read of objects, and hand them, without the detour over `Any`.
extension NSManagedObject {
  /// The value of a slot, as it is now; nil while the object is a fault.
  package final func storedValue(at place: Int) -> ManagedValue? {
    state.contains(.fault) || values.isEmpty ? nil : values[place]
  }

  /// The version of its row, as far as the context knows.
  package final var knownVersion: UInt64? { snapshot?.version }

  /// How the members of a to-many relationship have changed since the last save; nil if they have not.
  package final func memberChanges(at place: Int) -> MemberChanges? {
    guard !values.isEmpty, case .members(let members) = values[place], members.hasChanges else { return nil }
    return MemberChanges(
      added: members.added.map(\.objectID),
      // What was inserted and deleted again was never a member.
      removed: members.removed.map(\.objectID).filter { !$0.isTemporaryID },
      order: members.isReordered
        ? (members.members ?? members.wanted)?.elements.map(\.objectID).filter { !$0.isTemporaryID } : nil)
  }

  /// The members of a to-many relationship as far as the context knows them.
  package final func knownMembers(at place: Int) -> [NSManagedObjectID] {
    guard !values.isEmpty, case .members(let members) = values[place] else { return [] }
    return members.elements.map(\.objectID)
  }
}

/// What has become of the members of a to-many relationship since the last save.
package struct MemberChanges {
  /// New members in the order in which they were added. Where the store was not asked, some may be members already.
  package let added: [NSManagedObjectID]
  /// Members no longer. Where the store was not asked, some may be none.
  package let removed: [NSManagedObjectID]
  /// The order that the members are to have, if it is another one than that of the store with the new members at the
  /// end. Where the store was not asked, some may be no members.
  package let order: [NSManagedObjectID]?
}

/// A node that has values as objects keep them.
package protocol ManagedRow: NSIncrementalStoreNode {
  /// A value for each slot of the entity: attributes and to-one relationships as the row has them, nothing of the
  /// others. And the version that has these values, whatever becomes of the row meanwhile.
  func managedRow() throws -> (values: [ManagedValue], version: UInt64)
}

extension NSEntityDescription {
  /// The slot that objects of the entity have for a property; nil if there is none of the name. The model is frozen.
  package final func slot(of name: String) -> Int? { layout.place(of: name) }

  /// What an object has before its row is read.
  package final var blankValues: [ManagedValue] { layout.blank }
}

extension NSIncrementalStore {
  /// As ``newObjectID(for:referenceObject:)``, of a store that was added.
  package final func newObjectID(for entity: NSEntityDescription, number: Int64) -> NSManagedObjectID {
    guard let identity else { return newObjectID(for: entity, referenceObject: number) }
    return NSManagedObjectID(entity, identity, .integer(number))
  }
}

extension NSManagedObjectID {
  /// The reference, if it is a whole number.
  package var integerReference: Int64? {
    if case .integer(let number) = reference { number } else { nil }
  }

  /// The reference, if it is a string.
  package var stringReference: String? {
    if case .string(let text) = reference { text } else { nil }
  }
}
