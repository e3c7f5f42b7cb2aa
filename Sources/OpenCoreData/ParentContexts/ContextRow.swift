import Foundation

/// The values of an object of a context, as the row that a child of the context reads.
final class ContextRow: NSIncrementalStoreNode, ManagedRowNode {
  private let values: [ManagedValue]
  private let snapshot: RowSnapshot?

  /// The object must not be a fault. Its version is 0 if it was never saved.
  init(_ object: NSManagedObject, in context: NSManagedObjectContext) throws {
    let layout = object.layout
    var values = layout.blank
    for (place, slot) in layout.slots.enumerated() where slot.isInSnapshot {
      if case .object(let related) = object.values[place] {
        values[place] = try context.permanentIDs(of: [related]).first.map { .reference($0) } ?? .null
      } else {
        values[place] = object.values[place]
      }
    }
    self.values = values
    snapshot = object.snapshot
    super.init(objectID: object.objectID, withValues: [:], version: 0)
  }

  override var version: UInt64 { snapshot?.version ?? 0 }

  var managedRow: ManagedRow { ManagedRow(.decoded(values), version: version, revision: snapshot?.revision) }

  override func value(for prop: NSPropertyDescription) -> Any? {
    guard let place = objectID.entity.layout.place(of: prop.name) else { return nil }
    let slot = objectID.entity.layout.slots[place]
    guard slot.isInSnapshot else { return nil }
    return slot.attribute.map { values[place].anyValue(of: $0.attributeType) } ?? values[place].objectID ?? NSNull()
  }
}
