import Foundation

/// The values that this package's row stores exchange with objects directly, without the detour through `Any`.
extension NSManagedObject {
  /// The value of a slot, as it is now; nil while the object is a fault.
  package final func storedValue(at place: Int) -> ManagedValue? {
    isFault || !hasValues ? nil : values[place]
  }

  /// The version of its row, as far as the context knows.
  package final var knownVersion: UInt64? { snapshot?.version }

  /// The number of the save that wrote its row, as far as the context knows.
  package final var knownRevision: UInt64? { snapshot?.revision }

  /// How the members of a to-many relationship have changed since the last save; nil if they have not.
  package final func memberChanges(at place: Int) -> MemberChanges? {
    guard let members = relatedObjects(at: place), members.hasChanges else { return nil }
    return MemberChanges(
      added: members.added.map(\.objectID),
      // An object that was inserted and deleted again was never a member.
      removed: members.removed.map(\.objectID).filter { !$0.isTemporaryID },
      order: members.isReordered
        ? (members.members ?? members.wanted)?.elements.map(\.objectID).filter { !$0.isTemporaryID } : nil)
  }

  /// Whether another object is one of the `added` of ``memberChanges(at:)`` or, if the object is inserted, one of
  /// ``knownMembers(at:)``.
  package final func hasAdded(_ other: NSManagedObject, at place: Int, isInserted: Bool) -> Bool {
    guard let members = relatedObjects(at: place) else { return false }
    return isInserted ? members.contains(other) : members.hasAdded(other)
  }

  /// The members of a to-many relationship as far as the context knows them.
  package final func knownMembers(at place: Int) -> [NSManagedObjectID] {
    relatedObjects(at: place)?.elements.map(\.objectID) ?? []
  }

  /// What is at the place of a to-many relationship; nil while nothing is known of it.
  final func relatedObjects(at place: Int) -> RelatedObjects? {
    // A row that has not been decoded has nothing to say of it.
    guard case .members(let members)? = ownValue(at: place) else { return nil }
    return members
  }
}

/// The changes to the members of a to-many relationship since the last save.
package struct MemberChanges {
  /// New members in the order in which they were added. If the store's members were not read, some may be members
  /// already.
  package let added: [NSManagedObjectID]
  /// Former members. If the store's members were not read, some may not have been members.
  package let removed: [NSManagedObjectID]
  /// The order that the members are to have, if it differs from the store's order with the new members at the end. If
  /// the store's members were not read, some may not be members.
  package let order: [NSManagedObjectID]?
}

/// A row in the form in which objects keep it.
package struct ManagedRow {
  let values: RowValues
  let version: UInt64
  /// The number of the save that wrote the row, if the store numbers its saves.
  let revision: UInt64?

  package init(_ values: RowValues, version: UInt64, revision: UInt64?) {
    (self.values, self.version, self.revision) = (values, version, revision)
  }
}

/// A node that has its row in the form in which objects keep it.
package protocol ManagedRowNode: NSIncrementalStoreNode {
  var managedRow: ManagedRow { get }
}

/// A value for each slot of the entity: attributes and to-one relationships as in the row, no values for the others.
package enum RowValues {
  case decoded([ManagedValue])
  /// The bytes of the row, which have been checked.
  case encoded(EncodedRow)
}

/// The row of an object as the store keeps it, and what decodes it.
package struct EncodedRow {
  private let bytes: [UInt8]
  private let objectID: NSManagedObjectID
  private let decoder: any RowDecoder

  package init(_ bytes: [UInt8], of objectID: NSManagedObjectID, _ decoder: any RowDecoder) {
    (self.bytes, self.objectID, self.decoder) = (bytes, objectID, decoder)
  }

  var values: [ManagedValue] { decoder.values(of: bytes, objectID) }
  func value(at place: Int) -> ManagedValue { decoder.value(at: place, of: bytes, objectID) }
}

/// Decodes rows that have been checked, also when the store is gone.
package protocol RowDecoder: AnyObject {
  /// A value for each slot.
  func values(of bytes: [UInt8], _ objectID: NSManagedObjectID) -> [ManagedValue]
  /// The value of a slot.
  func value(at place: Int, of bytes: [UInt8], _ objectID: NSManagedObjectID) -> ManagedValue
}

/// A store that numbers its saves, and reports a conflict for each updated object whose row is gone.
package protocol SaveNumberingStore: NSIncrementalStore {
  /// The number of its last save; nil if that wrote no row.
  var lastRevision: UInt64? { get }
}

extension NSEntityDescription {
  /// The place of a property's slot in objects of the entity; nil if there is no property with the name. The model must
  /// be frozen.
  package final func slot(of name: String) -> Int? { layout.place(of: name) }

  /// The values of an object before its row is read.
  package final var blankValues: [ManagedValue] { layout.blank }
}

extension NSIncrementalStore {
  /// As ``newObjectID(for:referenceObject:)``, for a store that has been added.
  package final func newObjectID(for entity: NSEntityDescription, number: Int64) -> NSManagedObjectID {
    guard let identity else { return newObjectID(for: entity, referenceObject: number) }
    return NSManagedObjectID(entity, identity, .integer(number))
  }
}

extension NSManagedObjectID {
  /// The identifier of another object of the same store, also when the store is gone. The identifier must be permanent.
  package func neighbour(of entity: NSEntityDescription, number: Int64) -> NSManagedObjectID {
    guard let identity else { fatalError("\(self) belongs to no store.") }
    return NSManagedObjectID(entity, identity, .integer(number))
  }

  /// The reference, if it is a whole number.
  package var integerReference: Int64? {
    if case .integer(let number) = reference { number } else { nil }
  }

  /// The reference, if it is a string.
  package var stringReference: String? {
    if case .string(let text) = reference { text } else { nil }
  }
}
