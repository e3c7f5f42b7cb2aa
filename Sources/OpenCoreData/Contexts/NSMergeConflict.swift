public import Foundation

/// An object that was changed here and, since it was fetched, by somebody else.
///
/// Snapshots have attributes and to-one relationships by their names, the latter as identifiers; `NSNull` for none.
open class NSMergeConflict: NSObject {
  /// The object that was to be saved.
  public let sourceObject: NSManagedObject

  /// What the context had fetched or saved last; nil if the object was inserted.
  public let objectSnapshot: [String: Any]?

  /// What the coordinator's store has in memory; nil if it has been deleted.
  public let cachedSnapshot: [String: Any]?

  /// What is stored, if the conflict is between a store's memory and what is stored.
  public let persistedSnapshot: [String: Any]?

  /// The version that is stored; 0 if it has been deleted.
  public let newVersionNumber: Int

  /// The version that the context, or the store's memory, had.
  public let oldVersionNumber: Int

  /// A conflict, as stores make them that find one.
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

  /// A conflict of what the context knows with a row; nil for one that has been deleted.
  convenience init(_ object: NSManagedObject, _ layout: EntityLayout, _ row: RowSnapshot?) {
    self.init(
      source: object, newVersion: Int(clamping: row?.version ?? 0),
      oldVersion: Int(clamping: object.snapshot?.version ?? 0), cachedSnapshot: row.map(layout.dictionary),
      persistedSnapshot: nil)
  }

  /// What is in the store; nil if that is nothing.
  var row: RowSnapshot? {
    guard newVersionNumber > 0, let stored = persistedSnapshot ?? cachedSnapshot else { return nil }
    return RowSnapshot(values: sourceObject.layout.values(stored), version: UInt64(newVersionNumber))
  }
}

extension EntityLayout {
  /// A row as conflicts show it.
  func dictionary(_ row: RowSnapshot) -> [String: Any] {
    var values: [String: Any] = [:]
    for (slot, value) in zip(slots, row.values) where slot.isInSnapshot {
      values[slot.name] =
        slot.attribute.map { value.anyValue(of: $0.attributeType) ?? NSNull() } ?? value.objectID ?? NSNull()
    }
    return values
  }

  /// The values of a row that a conflict shows.
  fileprivate func values(_ stored: [String: Any]) -> [ManagedValue] {
    var values = blank
    for (place, slot) in slots.enumerated() where slot.isInSnapshot {
      guard let value = stored[slot.name] else { continue }
      if let attribute = slot.attribute {
        values[place] = ManagedValue(value, of: attribute)
      } else if let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID {
        values[place] = .reference(id)
      }
    }
    return values
  }
}
