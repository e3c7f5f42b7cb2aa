extension NSManagedObject {
  /// Sets a value without recording a change and without updating the other end of a relationship. The row must have
  /// been read.
  final func setPrimitive(_ value: Any?, at place: Int) {
    fireFaultToChange(layout.slots[place].name)
    if !eventState.isQuiet { managedObjectContext?.undoRecorder?.note(self) }
    switch layout.slots[place].kind {
    case .attribute(let attribute): put(ManagedValue(value, of: attribute), at: place)
    case .toOne(let relationship):
      let object = related(value, relationship).first
      noteFormerlyRelated(at: place)
      put(object.map { .object($0) } ?? .null, at: place)
    case .toMany(let relationship):
      let wanted = ObjectList(related(value, relationship))
      noteFormerlyRelated(at: place)
      let members = members(of: relationship, at: place)
      for object in members.elements where !wanted.contains(object) { members.remove(object) }
      for object in wanted { members.add(object) }
      if relationship.isOrdered { members.reorder(wanted.elements) }
    case .fetched: fatalError("\(layout.slots[place].name) is a fetched property and cannot be set.")
    }
  }

  /// Notes the objects at the other end of a relationship, unless they have been noted since the other ends were
  /// last updated.
  private final func noteFormerlyRelated(at place: Int) {
    guard let context = managedObjectContext, layout.slots[place].relationship?.inverseRelationship != nil,
      context.pending.event.formerlyRelated[self]?[place] == nil
    else { return }
    let related = related(at: place)
    context.pending.event.note(self, formerlyRelated: related, at: place)
  }

  /// Records a change. If the primitive value of a relationship was set, updates the other ends.
  final func notePrimitiveChange(_ key: String) {
    if eventState.isPrimitivelyRelated { tellOtherEnds(key) }
    noteChange()
  }

  private final func tellOtherEnds(_ key: String) {
    guard let place = layout.place(of: key), let relationship = layout.slots[place].relationship,
      let inverse = relationship.inverseRelationship, let context = managedObjectContext,
      let former = context.pending.event.takeFormerlyRelated(self, at: place)
    else { return }
    let (old, new) = (ObjectList(former), ObjectList(related(at: place)))
    for object in old where !new.contains(object) { object.dropInverse(self, inverse) }
    for object in new where !old.contains(object) { object.takeInverse(self, of: layout.slots[place]) }
  }

  /// The objects at the other end of a relationship.
  private final func related(at place: Int) -> [NSManagedObject] {
    switch layout.slots[place].kind {
    case .toMany(let relationship): members(of: relationship, at: place).elements.map { $0 }
    default: toOne(at: place).map { [$0] } ?? []
    }
  }
}
