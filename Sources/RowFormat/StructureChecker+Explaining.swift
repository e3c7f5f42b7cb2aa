/// Finds the entries and references that do not agree, once the sums have shown that some do not.
extension StructureChecker {
  /// Looks up every entry and reference of one relationship and its inverse, or the key of every row of one constraint.
  func explain(_ number: UInt32) throws {
    if let constraint = schema.constraints[number] { return try explain(constraint) }
    guard let relationship = schema.properties[number], let inverse = relationship.inverse else { return }
    if case .toOne = schema.properties[inverse]?.property.kind {
      try explainMembers(relationship) { owner, member in try refers(member, inverse, to: owner) }
      try explainReferences(inverse, relationship)
    } else {
      for end in Set([number, inverse]).sorted() {
        guard let relationship = schema.properties[end], let other = relationship.inverse else { continue }
        try explainMembers(relationship) { owner, member in try has(other, member, owner) }
      }
    }
  }

  /// Reports the members that do not exist or that do not refer to their owner.
  private func explainMembers(
    _ relationship: SchemaIndex.Property, _ agrees: (_ owner: ObjectReference, _ member: ObjectReference) throws -> Bool
  ) throws {
    var prefix = ByteOutput()
    prefix.varint(relationship.property.number)
    try forEachEntry(beginningWith: prefix.bytes) { bound, entry in
      guard case .member(_, let reference, let member, _) = try? EntryContent(entry, schema),
        let owner = try families(relationship.entity).first(where: { try source.contains(reference, in: $0) })
          .map({ ObjectReference(entity: $0, reference: reference) })
      else { return true }
      let sentence =
        "\(relationship.property.name) of \(schema.name(owner)) has the member \(schema.name(member)), which "
      if try !exists(member) {
        find(.entry, .pack(bound), sentence + "does not exist")
      } else if try !agrees(owner, member) {
        find(.entry, .pack(bound), sentence + "does not refer to it")
      }
      return true
    }
  }

  /// Reports the objects that refer to an owner of which they are not members.
  private func explainReferences(_ number: UInt32, _ relationship: SchemaIndex.Property) throws {
    for table in families(schema.properties[number]?.entity ?? 0) {
      try source.forEachRow(in: table) { reference, bytes in
        guard let owner = (try? FieldReader.field(number, of: bytes)?.object(in: bytes)) ?? nil, try exists(owner)
        else {
          return
        }
        let member = ObjectReference(entity: table, reference: reference)
        guard try !has(relationship.property.number, owner, member) else { return }
        let words = "it refers to \(schema.name(owner)), whose \(relationship.property.name) does not contain it"
        find(.row, .row(reference, table: table), words)
      }
    }
  }

  private func explain(_ constraint: SchemaIndex.Constraint) throws {
    for table in families(constraint.entity) {
      try source.forEachRow(in: table) { reference, bytes in
        guard let key = try? UniqueKey.key(of: constraint.constraint.attributes, in: bytes, normalized: { $0 }) else {
          return
        }
        let object = ObjectReference(entity: table, reference: reference)
        guard try !holds(object, key, constraint.constraint, bytes) else { return }
        find(.row, .row(reference, table: table), "it has no key for the constraint \(constraint.constraint.number)")
      }
    }
  }

  // MARK: Looking up

  private func families(_ entity: UInt32) -> [UInt32] { schema.families[entity] ?? [] }

  /// Whether the row of an object refers to another object in the field with a number.
  private func refers(_ object: ObjectReference, _ number: UInt32, to other: ObjectReference) throws -> Bool {
    guard let row = try source.row(object.reference, in: object.entity) else { return false }
    return (try? FieldReader.field(number, of: row)?.object(in: row)) == other
  }

  private func has(_ relationship: UInt32, _ owner: ObjectReference, _ member: ObjectReference) throws -> Bool {
    var isFound = false
    try forEachEntry(beginningWith: Entry.members(of: owner.reference, relationship)) { _, entry in
      if case .member(_, _, member, _) = try? EntryContent(entry, schema) { isFound = true }
      return !isFound
    }
    return isFound
  }

  /// Whether an entry gives the object this key. Looks under the key as the row has it, then under all keys of the
  /// constraint, because a text in the row may be in another normalisation form than in the entry.
  private func holds(
    _ object: ObjectReference, _ key: [UInt8], _ constraint: Schema.Constraint, _ row: [UInt8]
  ) throws -> Bool {
    var isFound = false
    var all = ByteOutput()
    all.varint(constraint.number)
    for prefix in [Entry.key(key, constraint.number), all.bytes] where !isFound {
      try forEachEntry(beginningWith: prefix) { _, entry in
        if case .key(_, let found, object) = try? EntryContent(entry, schema) {
          isFound = (try? UniqueKey.isKey(found, of: constraint.attributes, in: row)) ?? false
        }
        return !isFound
      }
    }
    return isFound
  }

  private func forEachEntry(
    beginningWith prefix: [UInt8], _ body: (_ bound: [UInt8], _ entry: [UInt8]) throws -> Bool
  ) throws {
    try source.forEachPack(from: prefix) { bound, bytes in
      for entry in try Pack.entries(bytes).map({ Array($0) }) {
        if entry.starts(with: prefix) {
          guard try body(bound, entry) else { return false }
        } else if prefix.lexicographicallyPrecedes(entry) {
          return false
        }
      }
      return true
    }
  }
}
