import RowFormat

/// Checks what a store keeps of a remote service, but for its lists: STORE-FORMAT.md, section 10.
///
/// What is known of objects whose entity a migration has removed means nothing, and is not checked.
extension StructureChecker {
  mutating func checkRemote() throws {
    let next = try nextChange()
    // The closure cannot change `self` while a call on `self.source` is running.
    var copy = self
    try source.forEachRow(in: OriginRow.table) { reference, bytes in try copy.checkOrigin(reference, bytes) }
    self = copy
    try checkOutbox(next)
    try checkResults()
  }

  /// The number that the next change in the outbox gets; nil if it is not known, which is reported.
  private func nextChange() throws -> UInt64? {
    let place = StructureFinding.Place.row(.integer(5), table: 0)
    guard let row = try source.row(.integer(5), in: 0) else {
      let tables = [OriginRow.table, ResultRow.table, OutboxRow.table]
      if try tables.contains(where: { try source.tables.contains($0) && hasRows($0) }) {
        find(.head, place, "there is no head of the remote service, but something is known of it")
      }
      return nil
    }
    do {
      return try RemoteHead(row).nextChange
    } catch {
      find(.head, place, "the head of the remote service: \(error)")
      return nil
    }
  }

  /// The property of an entity with a number, also an inherited one.
  private func property(_ number: UInt32, of entity: UInt32) -> Schema.Property? {
    schema.properties[number].flatMap { schema.has(entity, propertiesOf: $0.entity) ? $0.property : nil }
  }

  // MARK: Origins

  private mutating func checkOrigin(_ reference: RowReference, _ bytes: [UInt8]) throws {
    func find(_ words: String) { self.find(.row, .row(reference, table: OriginRow.table), words) }
    let origin: OriginRow
    do {
      origin = try OriginRow(bytes)
    } catch {
      return find("the origin: \(error)")
    }
    guard !schema.isUnassigned(origin.entity) else { return }
    guard schema.entities[origin.entity] != nil else { return find("the schema has no entity \(origin.entity)") }
    let object = ObjectReference(entity: origin.entity, reference: reference)
    if try !exists(object), try !isDeletion(origin.changes.last) {
      find("\(schema.name(object)), whose origin this is, does not exist, and no deletion waits to be sent")
    }
    if origin.identifier != nil { balances[Entry.remoteNumber, default: Balance()].addRight(object) }
    for number in origin.knownSets where !isSet(number, of: origin.entity) {
      find("\(schema.name(object)) has no to-many relationship \(number)")
    }
    for number in origin.changes {
      guard let row = try change(number) else {
        find("the change \(number) of \(schema.name(object)) is not in the outbox")
        continue
      }
      // A change that cannot be read is reported when the outbox is read in order.
      guard let change = try? OutboxRow(row), change.object != object else { continue }
      find("the change \(number) is one of \(schema.name(change.object)), and not of \(schema.name(object))")
    }
  }

  /// The bytes of a change in the outbox; nil if there is none.
  private func change(_ number: UInt64) throws -> [UInt8]? {
    try source.row(.integer(Int64(clamping: number)), in: OutboxRow.table)
  }

  /// Whether a change is a deletion, or cannot be read, which is reported elsewhere.
  private func isDeletion(_ number: UInt64?) throws -> Bool {
    guard let number, let row = try change(number) else { return false }
    return (try? OutboxRow(row).kind == .delete) ?? true
  }

  private func isSet(_ number: UInt64, of entity: UInt32) -> Bool {
    guard let number = UInt32(exactly: number) else { return false }
    guard case .toMany = property(number, of: entity)?.kind else { return schema.isUnassigned(number) }
    return true
  }

  // MARK: Remote identifiers

  mutating func checkIdentified(
    _ root: UInt32, _ identifier: String, _ object: ObjectReference, _ bound: [UInt8], _ run: inout EntryRun
  ) throws {
    guard !schema.isUnassigned(object.entity) else { return }
    guard !run.isAgain(Entry.remoteNumber, Entry.remote(identifier, root)) else {
      return find(.entry, .pack(bound), "\(schema.name(object)) has the remote identifier of another object")
    }
    guard schema.lineage(of: object.entity).last?.number == root else {
      return find(
        .entry, .pack(bound),
        "\(schema.name(object)) has a remote identifier of the entity \(root), which is not its own")
    }
    // An origin that cannot be read is reported when the origins are read in order, and no balance counts it.
    guard let isOfOrigin = try isOfOrigin(identifier, object) else { return }
    guard isOfOrigin else {
      return find(.entry, .pack(bound), "\(schema.name(object)) has a remote identifier that its origin does not have")
    }
    balances[Entry.remoteNumber, default: Balance()].addLeft(object)
  }

  /// Whether the origin of an object has an identifier; nil if it cannot be read.
  private func isOfOrigin(_ identifier: String, _ object: ObjectReference) throws -> Bool? {
    guard let row = try source.row(object.reference, in: OriginRow.table) else { return false }
    guard let origin = try? OriginRow(row) else { return nil }
    return origin.entity == object.entity && origin.identifier == identifier
  }

  /// Reports the origins whose identifiers have no entry.
  func explainIdentifiers() throws {
    let differences = try Differences<ObjectReference> { body in
      try forEachEntry(of: Entry.remoteNumber) { _, entry in
        guard case .identified(let root, let identifier, let object) = try? EntryContent(entry, schema),
          schema.lineage(of: object.entity).last?.number == root, try isOfOrigin(identifier, object) == true
        else { return }
        body(object)
      }
    } _: { body in
      try source.forEachRow(in: OriginRow.table) { reference, bytes in
        guard let origin = try? OriginRow(bytes), origin.identifier != nil, schema.entities[origin.entity] != nil
        else { return }
        body(ObjectReference(entity: origin.entity, reference: reference))
      }
    }
    for object in differences.onlyRight.sorted() {
      find(
        .row, .row(object.reference, table: OriginRow.table),
        "there is no entry for the remote identifier of \(schema.name(object))")
    }
  }

  // MARK: Outbox

  private func checkOutbox(_ next: UInt64?) throws {
    try source.forEachRow(in: OutboxRow.table) { reference, bytes in
      func find(_ words: String) { self.find(.row, .row(reference, table: OutboxRow.table), words) }
      guard case .integer(let signed) = reference, signed > 0, let number = UInt64(exactly: signed) else {
        return find("a change has the number \(reference)")
      }
      if let next, number >= next { find("a change has the number \(number), but the next number is \(next)") }
      do {
        let change = try OutboxRow(bytes)
        guard !schema.isUnassigned(change.object.entity) else { return }
        try checkContents(of: change)
        try checkOrigin(of: change, number, find)
      } catch let damage as RowDamage {
        find("the change: \(damage)")
      }
    }
  }

  private func checkContents(of change: OutboxRow) throws(RowDamage) {
    let entity = change.object.entity
    guard schema.entities[entity] != nil else { throw RowDamage("the schema has no entity \(entity)", at: 1) }
    try checkFields(change.base, of: entity, "the values before it")
    let count = try checkFields(change.values, of: entity, "the values after it")
    guard change.kind != .delete || count == 0 else { throw RowDamage("a deletion has values after it", at: 1) }
    guard change.state == .refused || change.refusal.isEmpty else {
      throw RowDamage("it has a reason for a refusal, but was not refused", at: 1)
    }
    for members in change.members {
      guard !schema.isUnassigned(members.relationship) else { continue }
      guard let relationship = property(members.relationship, of: entity), case .toMany(let end, _) = relationship.kind
      else {
        throw RowDamage("\(schema.name(change.object)) has no to-many relationship \(members.relationship)", at: 1)
      }
      for member in members.added + members.removed
      where !schema.has(member.entity, propertiesOf: end.destination) && !schema.isUnassigned(member.entity) {
        throw RowDamage("the member \(schema.name(member)) of \(relationship.name) has the wrong entity", at: 1)
      }
    }
  }

  /// Checks that a row has fields of an entity only, and returns how many.
  @discardableResult
  private func checkFields(_ row: [UInt8], of entity: UInt32, _ what: String) throws(RowDamage) -> Int {
    var count = 0
    do throws(RowDamage) {
      var fields = try RowFormat.FieldReader(row)
      while let (number, field) = try fields.next() {
        count += 1
        guard let property = property(number, of: entity) else {
          if schema.isUnassigned(number) { continue }
          throw RowDamage("\(schema.entities[entity]?.name ?? "\(entity)") has no property \(number)", at: 0)
        }
        try FieldCheck.check(field, of: property, in: row)
      }
    } catch {
      throw RowDamage("\(what): \(error.what)", at: error.position)
    }
    return count
  }

  /// Checks that the origin of the object of a change lists it.
  private func checkOrigin(of change: OutboxRow, _ number: UInt64, _ find: (String) -> Void) throws {
    let object = change.object
    guard let row = try source.row(object.reference, in: OriginRow.table) else {
      return find("\(schema.name(object)) has no origin")
    }
    guard let origin = try? OriginRow(row) else { return }
    guard origin.entity == object.entity, origin.changes.contains(number) else {
      return find("the origin of \(schema.name(object)) does not list the change")
    }
  }
}
