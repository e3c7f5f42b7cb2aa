import Foundation

extension NSManagedObject {
  /// Reads the row of a fault.
  ///
  /// Reading a property cannot throw. If the row is gone, the object has no values from then on and the next save
  /// deletes it, or the program ends: the context decides. Any other error of a store ends the program, unless a call
  /// that can throw is reading values: that call throws the error, and the object stays a fault. If the context is
  /// gone, the object stays a fault, too. The properties of such a fault have no values.
  final func fireFault(_ key: String? = nil) {
    guard isFault else { return }
    guard let context = managedObjectContext else {
      if let key { KeyPathReading.note(key, of: self) }
      return
    }
    context.checkQueue()
    do {
      try realise(context)
    } catch {
      context.handleInaccessible(self, key, error)
    }
  }

  /// Fires a fault whose values are going to be changed. Ends the program if it has no values then.
  final func fireFaultToChange(_ key: String) {
    guard isFault else { return }
    requireContext(toChange: key)
    fireFault(key)
    require(!isFault, "\(entity.name ?? "").\(key) of \(objectID) cannot be changed: the object could not be read.")
  }

  /// Ends the program if the object has lost its values because its context is gone.
  final func requireContext(toChange key: String) {
    guard isFault, managedObjectContext == nil else { return }
    fatalError("\(entity.name ?? "").\(key) of \(objectID) cannot be changed: the context of the object is gone.")
  }

  /// Reads the row of a fault.
  final func realise(_ context: NSManagedObjectContext) throws {
    guard isFault else { return }
    try realiseBatch(context)
    guard isFault else { return }
    try takeRow(context)
    awakeFromFetch(in: context)
  }

  /// Calls `awakeFromFetch()`, whose errors no call throws that reads values.
  final func awakeFromFetch(in context: NSManagedObjectContext) {
    context.endingTheProgramOnUnreadableFaults { awake { $0.awakeFromFetch() } }
  }

  /// Reads the row of a fault without calling `awakeFromFetch()`.
  final func takeRow(_ context: NSManagedObjectContext) throws {
    try take(try context.node(for: objectID), context)
  }

  /// Takes the values of a row, and keeps to-many relationships that were changed from the other end.
  ///
  /// Transient attributes keep their values, or get their default values if they have none.
  final func take(_ node: NSIncrementalStoreNode, _ context: NSManagedObjectContext) throws {
    if let node = node as? any ManagedRowNode { return take(node.managedRow) }
    take(try Self.committed(node, layout, objectID, context)) { relationship in
      guard let given = node.value(for: relationship), let ids = relationship.identifiers(in: given) else { return nil }
      let members = ObjectList(context.members(of: relationship, with: ids))
      return RelatedObjects(isOrdered: relationship.isOrdered, members: members)
    }
  }

  /// As for any other node; but these rows have no to-many relationships.
  final func take(_ row: ManagedRow) { take(RowSnapshot(row)) { _ in nil } }

  private final func take(_ row: RowSnapshot, members: (NSRelationshipDescription) -> RelatedObjects?) {
    let (layout, former) = (layout, self.values)
    guard !row.isEncoded || !former.isEmpty || !layout.transients.isEmpty else { return take(encoded: row) }
    var values = row.values
    for place in layout.transients where layout.slots[place].attribute != nil {
      values[place] = former.isEmpty ? layout.defaults[place] : former[place]
      if case .fault = values[place] { values[place] = layout.defaults[place] }
    }
    for place in layout.toManys {
      if !former.isEmpty, case .members = former[place] {
        values[place] = former[place]
      } else if let members = layout.slots[place].relationship.flatMap(members) {
        values[place] = .members(members)
      }
    }
    take(values, row.replacing(layout.transients, by: values))
  }

  /// The values of a row: attributes and to-one relationships, but no to-many relationships.
  ///
  /// - Throws: 134070 for a value that its property cannot have; any error of the store.
  static func committed(
    _ node: NSIncrementalStoreNode, _ layout: EntityLayout, _ id: NSManagedObjectID, _ context: NSManagedObjectContext
  ) throws -> RowSnapshot {
    if let node = node as? any ManagedRowNode { return RowSnapshot(node.managedRow) }
    var values = layout.blank
    for (place, slot) in layout.slots.enumerated() where slot.isInSnapshot {
      switch slot.kind {
      case .attribute(let attribute):
        guard let value = node.value(for: attribute) else { continue }
        guard let fit = ManagedValue(ifFit: value, for: attribute) else {
          throw CoreDataError.wrongAnswer(value, of: context.store(of: id), for: attribute, of: id)
        }
        values[place] = fit
      case .toOne(let relationship):
        let ids: [NSManagedObjectID]
        if let value = node.value(for: relationship) {
          guard let given = relationship.identifiers(in: value) else {
            throw CoreDataError.wrongAnswer(value, of: context.store(of: id), for: relationship, of: id)
          }
          ids = given
        } else {
          ids = try context.relatedIDs(relationship, of: id)
        }
        if let id = ids.first { values[place] = .reference(id) }
      case .toMany, .fetched: break
      }
    }
    return RowSnapshot(values: values, version: node.version)
  }

  /// Returns the objects that the object refers to, and turns the object into a fault. Only for objects that nothing
  /// else refers to.
  final func takeRelated() -> [NSManagedObject] {
    defer { forgetValues() }
    return relatedObjects
  }

  /// Detaches the object from its row and gives it a new temporary identifier, because no object may have the
  /// identifier of the former row again. Does nothing to an object with a temporary identifier.
  final func leaveRow() {
    guard !objectID.isTemporaryID else { return }
    identifier = NSManagedObjectID(temporaryFor: entity)
    loseRow()
    if isFault { takeDefaults() }
    leaveEvent()
    for place in layout.toManys {
      guard let relationship = layout.slots[place].relationship else { continue }
      let members = RelatedObjects(isOrdered: relationship.isOrdered, members: ObjectList())
      if case .members(let old) = values[place] { for object in old.elements { members.add(object) } }
      put(.members(members), at: place)
    }
  }

  /// Calls a method of the application, and does not record its changes of the object.
  final func awake(_ body: (NSManagedObject) -> Void) {
    quietly { body(self) }
    // Transient values that the method has set are not changes to be saved.
    if !hasChanges { commitTransients() }
  }

  /// Whether the objects of a relationship have not been read from the store.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    checkQueue()
    guard let place = layout.place(of: key), layout.slots[place].relationship != nil else { undefined(key) }
    guard hasValues else { return isFault }
    return switch values[place] {
    case .fault: true
    case .members(let members): members.isFault
    case .reference(let id): managedObjectContext?.registeredObject(for: id)?.isFault ?? true
    case .object(let object): object.isFault
    default: isFault
    }
  }

  /// The identifiers of the objects of a relationship, in order if the relationship is ordered. Makes no objects for
  /// identifiers that are read from the store.
  ///
  /// For a to-many relationship of a fault, most stores answer without its row, and the object stays a fault.
  public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    checkQueue()
    guard let place = layout.place(of: key) else { undefined(key) }
    switch layout.slots[place].kind {
    case .toOne:
      fireFault(key)
      return hasValues ? value(inSlot: place).objectID.map { [$0] } ?? [] : []
    case .toMany(let relationship): return memberIDs(of: relationship, at: place)
    case .attribute, .fetched: undefined(key)
    }
  }
}
