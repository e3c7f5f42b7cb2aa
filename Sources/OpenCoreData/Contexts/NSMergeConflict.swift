public import Foundation

/// An object that was changed both here and, since it was fetched, by somebody else.
///
/// A snapshot maps the names of attributes and to-one relationships to their values: an identifier for a relationship,
/// `NSNull` for no value.
open class NSMergeConflict: NSObject {
  /// The object that was to be saved.
  public let sourceObject: NSManagedObject

  /// The values that the context fetched or saved last; nil if the object was inserted.
  public let objectSnapshot: [String: Any]?

  /// The row in the memory of the coordinator's store; nil if it has been deleted.
  public let cachedSnapshot: [String: Any]?

  /// The stored row, if it conflicts with the row in the store's memory.
  public let persistedSnapshot: [String: Any]?

  /// The version of the stored row; 0 if it has been deleted.
  public let newVersionNumber: Int

  /// The version that the context, or the store's memory, had.
  public let oldVersionNumber: Int

  /// The number of the save that wrote the row in the store; nil if the store does not tell. See ``RowSnapshot/revision``.
  package final var revision: UInt64?

  /// Makes a conflict. A store calls this when it finds one.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    objectSnapshot = srcObject.snapshotValues
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
    newVersionNumber = newvers
    oldVersionNumber = oldvers
  }

  /// Makes a conflict between the context's snapshot of an object and its row; `row` is nil if it has been deleted.
  convenience init(_ object: NSManagedObject, _ layout: EntityLayout, _ row: RowSnapshot?) {
    self.init(
      source: object, newVersion: Int(clamping: row?.version ?? 0),
      oldVersion: Int(clamping: object.snapshot?.version ?? 0), cachedSnapshot: row.map(layout.dictionary),
      persistedSnapshot: nil)
    revision = row?.revision
  }

  /// The object's class, entity and identifier, the versions and the snapshots as a text. Fires no fault.
  open override var description: String { text }

  /// The row in the store; nil if it has been deleted or the conflict has no snapshot of it.
  ///
  /// - Throws: 134070 for a value that its attribute cannot have.
  var row: RowSnapshot? {
    get throws {
      guard newVersionNumber > 0, let stored = persistedSnapshot ?? cachedSnapshot else { return nil }
      return RowSnapshot(values: try values(stored), version: UInt64(newVersionNumber), revision: revision)
    }
  }

  /// The values of a snapshot, one for each slot.
  private func values(_ stored: [String: Any]) throws -> [ManagedValue] {
    let layout = sourceObject.layout
    var values = layout.blank
    for (place, slot) in layout.slots.enumerated() where slot.isInSnapshot {
      guard let value = stored[slot.name] else { continue }
      if let attribute = slot.attribute {
        guard let fit = ManagedValue(ifFit: value, for: attribute) else {
          let id = sourceObject.objectID
          throw CoreDataError.wrongAnswer(
            value, of: sourceObject.managedObjectContext?.store(of: id), for: attribute, of: id)
        }
        values[place] = fit
      } else if let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID {
        values[place] = .reference(id)
      }
    }
    return values
  }
}

extension EntityLayout {
  /// A row in the form of a conflict's snapshot.
  func dictionary(_ row: RowSnapshot) -> [String: Any] {
    var values: [String: Any] = [:]
    for (slot, value) in zip(slots, row.values) where slot.isInSnapshot {
      values[slot.name] =
        slot.attribute.map { value.anyValue(of: $0.attributeType) ?? NSNull() } ?? value.objectID ?? NSNull()
    }
    return values
  }
}
