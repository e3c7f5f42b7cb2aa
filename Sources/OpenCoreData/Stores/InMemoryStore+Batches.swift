import Foundation

/// Batch requests.
extension InMemoryStore {
  func insert(_ request: NSBatchInsertRequest, _ context: NSManagedObjectContext?) throws -> NSBatchInsertResult {
    var ids = BatchIDs(areWanted: request.resultType == .objectIDs)
    let insertion = try BatchInsertion(request, into: self, notesGiven: true)
    try BatchSaves.run(objectsPerSave: request.objectsPerSave, &ids) { limit, ids in
      try insert(insertion, limit, context?.mergePolicyType ?? .errorMergePolicyType, &ids)
    }
    return NSBatchInsertResult(request.resultType, ids)
  }

  private func insert(
    _ insertion: BatchInsertion, _ limit: Int, _ policy: NSMergePolicyType, _ ids: inout BatchIDs
  ) throws -> Bool {
    let entity = insertion.entity
    let layout = layout(of: entity)
    var upserts = BatchUpserts<InMemoryConstraints.Key, NSManagedObjectID>(policy, entity)
    let probe = newObjectID(for: entity, referenceObject: 0)
    let source = BatchUpserts<InMemoryConstraints.Key, NSManagedObjectID>.Source(
      keys: { [constraints, rows] values in
        constraints.keys(of: InMemoryRow(probe, version: 1, layout, values, in: rows))
      },
      holder: { [constraints] key in constraints.holder(of: key, entity) },
      values: { [unowned self] id in
        guard id.entity === entity else { throw CoreDataError.sharedKey(id, entity) }
        return try row(id).managedValues
      })
    var count = 0
    while count < limit, let object = try insertion.nextObject() {
      try upserts.add(object, source)
      count += 1
    }
    var edit = InMemoryEdit(self)
    for object in upserts.inserted {
      lastReference += 1
      let id = newObjectID(for: entity, referenceObject: lastReference)
      try edit.put(InMemoryRow(id, version: 1, layout, object.values, in: rows))
    }
    for change in upserts.changed where !change.slots.isEmpty {
      let slots = change.holder.entity.layout.slots
      try edit.set(
        Dictionary(uniqueKeysWithValues: change.slots.map { (slots[$0].name, change.values[$0]) }), change.holder)
    }
    try edit.save()
    for row in edit.changed { ids.add(row.objectID) }
    return count == limit
  }

  func update(_ request: NSBatchUpdateRequest, _ context: NSManagedObjectContext?) throws -> NSBatchUpdateResult {
    let entity = try entity(ofBatch: request.entityName)
    let reader = reader(of: entity, context)
    let assignments = try BatchAssignments(request, of: entity, in: self, reading: reader)
    let fetch = NSFetchRequest<NSManagedObject>(entityName: request.entityName)
    (fetch.entity, fetch.predicate, fetch.includesSubentities) = (
      entity, request.predicate, request.includesSubentities
    )
    let matches = try CompiledFetch(fetch, of: entity, reading: reader).matches
    var waiting = rows.all(of: entity, includingSubentities: request.includesSubentities).filter(matches)[...]
    var ids = BatchIDs(areWanted: request.resultType == .updatedObjectIDsResultType)
    try BatchSaves.run(objectsPerSave: request.objectsPerSave, &ids) { limit, ids in
      let part = waiting.prefix(limit)
      waiting = waiting.dropFirst(limit)
      var edit = InMemoryEdit(self)
      for row in part {
        let values = try assignments.values.map { try $0(row) }
        try edit.set(Dictionary(uniqueKeysWithValues: zip(assignments.names, values)), row.objectID)
      }
      try edit.save()
      for row in edit.changed { ids.add(row.objectID) }
      return !waiting.isEmpty
    }
    return NSBatchUpdateResult(request.resultType, ids)
  }

  func delete(_ request: NSBatchDeleteRequest, _ context: NSManagedObjectContext?) throws -> NSBatchDeleteResult {
    var ids = BatchIDs(areWanted: request.resultType == .resultTypeObjectIDs)
    guard request.objectIDs?.isEmpty != true else { return NSBatchDeleteResult(request.resultType, ids) }
    let fetch = try fetchRequest(of: request)
    guard let entity = fetch.entity else { return NSBatchDeleteResult(request.resultType, ids) }
    let found = try CompiledFetch(fetch, of: entity, reading: reader(of: entity, context))
      .rows(among: rows.all(of: entity, includingSubentities: fetch.includesSubentities))
    var waiting = found.map(\.objectID)[...]
    try BatchSaves.run(objectsPerSave: request.objectsPerSave, &ids) { limit, ids in
      let part = waiting.prefix(limit)
      waiting = waiting.dropFirst(limit)
      for id in try delete(part.filter { rows[$0] != nil }) { ids.add(id) }
      return !waiting.isEmpty
    }
    return NSBatchDeleteResult(request.resultType, ids)
  }

  private func delete(_ objects: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
    let deletion = try BatchDeletion(objects, in: self, entity: \.entity) { [rows] id, relationship in
      let value = rows[id]?.value(of: relationship.name)
      let related = value as? [NSManagedObjectID] ?? (value as? NSManagedObjectID).map { [$0] } ?? []
      return related.filter { rows[$0] != nil }
    }
    let deleted = Set(deletion.deleted)
    var edit = InMemoryEdit(self)
    for (id, relationships) in deletion.left.sorted(by: { number(of: $0.key) < number(of: $1.key) }) {
      try edit.leave(deleted, relationships, id)
    }
    try edit.save(deleting: deletion.deleted)
    return deletion.deleted
  }
}

/// Rows that a batch request replaces in the in-memory store.
private struct InMemoryEdit {
  /// The rows of the request, in their order.
  private(set) var changed: [InMemoryRow] = []
  private var places: [NSManagedObjectID: Int] = [:]
  /// Rows whose relationships change because their other ends do.
  private var touched: [NSManagedObjectID: InMemoryRow] = [:]
  private let store: InMemoryStore

  init(_ store: InMemoryStore) { self.store = store }

  private func row(_ id: NSManagedObjectID) throws -> InMemoryRow {
    try places[id].map { changed[$0] } ?? touched[id] ?? store.row(id)
  }

  /// Inserts a row.
  mutating func put(_ row: InMemoryRow) throws {
    places[row.objectID] = changed.count
    changed.append(row)
    try relate(row, insteadOf: nil)
  }

  /// Changes properties of an object, by their names.
  mutating func set(_ values: [String: ManagedValue], _ id: NSManagedObjectID) throws {
    let old = try row(id)
    let slots = id.entity.layout
    var all = old.managedValues
    for (name, value) in values {
      if let place = slots.place(of: name) { all[place] = value }
    }
    slots.derive(&all, fromOthers: false)
    var replaced: [String: Any?] = [:]
    for (place, slot) in slots.slots.enumerated() where slot.isInSnapshot {
      replaced[slot.name] = slot.attribute.map { all[place].anyValue(of: $0.attributeType) } ?? all[place].objectID
    }
    let new = InMemoryRow(old, replacing: replaced, version: try store.row(id).version + 1)
    if let place = places[id] {
      changed[place] = new
    } else {
      touched[id] = nil
      places[id] = changed.count
      changed.append(new)
    }
    try relate(new, insteadOf: old)
  }

  /// Removes deleted objects from relationships of an object.
  mutating func leave(
    _ deleted: Set<NSManagedObjectID>, _ relationships: [NSRelationshipDescription], _ id: NSManagedObjectID
  ) throws {
    let old = try row(id)
    var values: [String: Any?] = [:]
    for relationship in relationships {
      let members = old.value(of: relationship.name) as? [NSManagedObjectID]
      values.updateValue(members.map { $0.filter { !deleted.contains($0) } }, forKey: relationship.name)
    }
    touched[id] = InMemoryRow(old, replacing: values, version: try store.row(id).version + 1)
  }

  /// Updates the other ends of to-one relationships.
  private mutating func relate(_ new: InMemoryRow, insteadOf old: InMemoryRow?) throws {
    let slots = new.objectID.entity.layout
    for place in slots.toOnes {
      guard let relationship = slots.slots[place].relationship, let inverse = relationship.inverseRelationship,
        inverse.isToMany
      else { continue }
      let (before, after) = (old?.value(of: relationship.name), new.value(of: relationship.name))
      let (former, owner) = (before as? NSManagedObjectID, after as? NSManagedObjectID)
      guard former != owner else { continue }
      if let former { try change(former, inverse) { $0.filter { $0 != new.objectID } } }
      if let owner { try change(owner, inverse) { $0 + [new.objectID] } }
    }
  }

  private mutating func change(
    _ id: NSManagedObjectID, _ relationship: NSRelationshipDescription,
    _ body: ([NSManagedObjectID]) -> [NSManagedObjectID]
  ) throws {
    let old = try row(id)
    let members = old.value(of: relationship.name) as? [NSManagedObjectID] ?? []
    let version = try places[id].map { changed[$0].version } ?? store.row(id).version + 1
    let new = InMemoryRow(old, replacing: [relationship.name: body(members)], version: version)
    if let place = places[id] { changed[place] = new } else { touched[id] = new }
  }

  func save(deleting deleted: [NSManagedObjectID] = []) throws {
    try store.save(changed.map { (nil, $0) }, locked: Array(touched.values), deleted: deleted)
  }
}
