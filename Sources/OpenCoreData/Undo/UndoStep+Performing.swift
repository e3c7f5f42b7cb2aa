import Foundation

extension UndoStep {
  /// Gives the objects back what they had, by the ordinary means of changing objects: the other ends of relationships
  /// follow, and what others have changed meanwhile stays.
  func perform(in context: NSManagedObjectContext) {
    context.processChanges()
    let deleted = objects.filter { $0.wasPresent && $0.object.presence != .present }
    for undo in deleted { context.bringBack(undo.object) }
    let present = objects.filter { $0.object.managedObjectContext === context && $0.object.presence == .present }
    for undo in present { undo.restoreValues() }
    for undo in present { undo.restoreOrders(context) }
    for undo in present { context.mergeMissedChange(of: undo.object) }
    let inserted = ObjectList(present.filter { !$0.wasPresent }.map(\.object))
    for object in inserted { context.takeOut(object) }
    context.propagateDeletions()
    context.forgetVoidUpdates(of: objects.filter { !$0.wasUpdated }.map(\.object))
    let revived = ObjectList(deleted.map(\.object))
    for object in present.map(\.object) {
      let event: NSSnapshotEventType =
        revived.contains(object) ? .undoDeletion : inserted.contains(object) ? .undoInsertion : .undoUpdate
      object.awake { $0.awake(fromSnapshotEvents: event) }
    }
    context.processChanges()
  }
}

extension ObjectUndo {
  fileprivate func restoreValues() {
    object.fireFault()
    guard !object.isFault, !object.isInaccessible else { return }
    for (place, value) in attributes where !value.isEqual(object.values[place]) {
      change(place) { object.change(at: place, to: value) }
    }
    for (place, other) in toOnes where object.toOne(at: place) !== other {
      guard let relationship = object.layout.slots[place].relationship else { continue }
      change(place) { object.restore(other, relationship, at: place) }
    }
    for (place, undo) in toManys {
      guard let relationship = object.layout.slots[place].relationship else { continue }
      let (leaving, joining) = undo.difference(from: object.members(of: relationship, at: place))
      guard !leaving.isEmpty || !joining.isEmpty else { continue }
      change(place) { object.exchange(leaving, joining, relationship, at: place) }
    }
  }

  /// Puts the members of ordered relationships where they were, once all are members again.
  fileprivate func restoreOrders(_ context: NSManagedObjectContext) {
    for (place, undo) in toManys {
      guard let order = undo.order, let relationship = object.layout.slots[place].relationship, !object.isFault else {
        continue
      }
      let (members, kept) = (object.members(of: relationship, at: place), ObjectList(order))
      let wanted = order.filter(members.contains) + members.elements.filter { !kept.contains($0) }
      if !members.elements.elementsEqual(wanted, by: ===) {
        change(place) {
          object.noteEvent()
          members.reorder(wanted)
        }
      }
      guard let stored = try? context.relatedIDs(relationship, of: object.objectID) else { continue }
      members.compareOrder(with: context.members(of: relationship, with: stored))
    }
  }

  private func change(_ place: Int, _ body: () -> Void) {
    let name = object.layout.slots[place].name
    object.willChangeValue(forKey: name)
    body()
    object.didChangeValue(forKey: name)
  }
}

extension NSManagedObject {
  fileprivate final func restore(
    _ other: NSManagedObject?, _ relationship: NSRelationshipDescription, at place: Int
  ) {
    let isPresent = other?.registry === registry && other?.isDeleted == false
    setToOne(isPresent ? other : nil, relationship, at: place)
    if let other, mayDangle(other) { change(at: place, to: .object(other)) }
  }

  fileprivate final func exchange(
    _ leaving: [NSManagedObject], _ joining: [NSManagedObject], _ relationship: NSRelationshipDescription, at place: Int
  ) {
    let members = members(of: relationship, at: place)
    members.change {
      for other in leaving { remove(other, relationship, at: place) }
      for other in joining where other.registry === registry {
        if !other.isDeleted {
          add(other, relationship, at: place)
        } else if mayDangle(other) {
          noteEvent()
          members.add(other)
        }
      }
    }
  }

  /// Whether a reference to an object that is deleted here is restored: its row is still there, and the rule No Action
  /// had kept the reference.
  private final func mayDangle(_ other: NSManagedObject) -> Bool {
    other.registry === registry && other.state.change == .deleted && !other.isInaccessible
      && !other.state.marks.contains(.gone)
  }
}

extension NSManagedObjectContext {
  /// Brings back an object that was deleted, unless somebody else has deleted it, too, or it is in another context.
  fileprivate func bringBack(_ object: NSManagedObject) {
    guard object.registry == nil || object.registry === registry, object.state.change != .lost,
      !object.state.marks.contains(.gone) || (try? node(for: object.objectID)) != nil
    else { return }
    let old = object.objectID
    bringIn(object)
    if object.objectID != old { redirectReferences(from: old, to: object) }
    pending.event.noteInsertion(of: object)
  }

  /// Has objects that refer to a deleted row, because no delete rule has nullified the reference, refer to the object
  /// that is inserted again.
  ///
  /// - Complexity: O(number of registered objects), but O(number of relationships) if the model has no such references.
  private func redirectReferences(from id: NSManagedObjectID, to object: NSManagedObject) {
    guard let entities = persistentStoreCoordinator?.managedObjectModel.entities,
      entities.contains(where: { entity in entity.layout.toOnes.contains(where: entity.layout.mayDangle) })
    else { return }
    for owner in registry.objects where !owner.values.isEmpty && !owner.isDeleted {
      for place in owner.layout.toOnes where owner.layout.mayDangle(at: place) {
        guard owner.snapshot?.values[place].objectID == id else { continue }
        let refers =
          switch owner.values[place] {
          case .object(let other): other === object
          case let value: value.objectID == id
          }
        owner.forgetRow(at: place)
        guard refers else { continue }
        owner.change(at: place, to: .object(object))
        owner.noteChange()
      }
    }
  }

  /// Deletes an object whose insertion is undone.
  fileprivate func takeOut(_ object: NSManagedObject) {
    undoRecorder?.note(object)
    pending.delete(object)
  }

  /// Makes updated objects unchanged whose values are as they were fetched or saved last, if they were unchanged before.
  fileprivate func forgetVoidUpdates(of objects: [NSManagedObject]) {
    let reached = undoRecorder?.notes.filter { $0.change == .none }.map(\.object) ?? []
    for object in objects + reached where object.isUpdated && !object.hasChangedValues {
      pending.forget(updateOf: object)
    }
  }
}

extension EntityLayout {
  /// Whether the to-one relationship at a place may refer to an object whose deletion was saved.
  fileprivate func mayDangle(at place: Int) -> Bool {
    switch slots[place].relationship?.inverseRelationship?.deleteRule {
    case .noActionDeleteRule, nil: true
    default: false
    }
  }
}
