import RowFormat

/// Finds the entries and references that do not agree, once the sums have shown that some do not.
extension StructureChecker {
  /// Compares the entries of one relationship with the references or entries of its inverse, or those of one constraint
  /// or index with the rows that have a key; or remote identifiers with the origins.
  func explain(_ number: UInt32) throws {
    if number == Entry.remoteNumber { return try explainIdentifiers() }
    if let constraint = schema.constraints[number] { return try explain(constraint) }
    if let index = schema.indexes[number] { return try explain(index) }
    guard let relationship = schema.properties[number],
      let inverse = relationship.inverse.flatMap({ schema.properties[$0] })
    else { return }
    let differences: Differences<Membership>
    if case .toOne = inverse.property.kind {
      differences = try Differences { body in
        try forEachMember(of: relationship) { membership, _ in body(membership) }
      } _: {
        try forEachReference(inverse, $0)
      }
      try reportReferences(inverse, relationship, differences.onlyRight)
    } else {
      differences = try Differences { body in
        try forEachMember(of: relationship) { membership, _ in body(membership) }
      } _: { body in
        try forEachMember(of: inverse) { membership, _ in body(membership.reversed) }
      }
      if inverse.property.number != number {
        try reportMembers(inverse, Set(differences.onlyRight.map(\.reversed)))
      }
    }
    try reportMembers(relationship, differences.onlyLeft)
  }

  /// Reports the members that do not exist or that do not refer to their owner.
  private func reportMembers(_ relationship: SchemaIndex.Property, _ wrong: Set<Membership>) throws {
    guard !wrong.isEmpty else { return }
    try forEachMember(of: relationship) { membership, bound in
      guard wrong.contains(membership) else { return }
      let words = try exists(membership.member) ? "does not refer to it" : "does not exist"
      let sentence =
        "\(relationship.property.name) of \(schema.name(membership.owner)) has the member "
        + "\(schema.name(membership.member)), which \(words)"
      find(.entry, .pack(bound), sentence)
    }
  }

  /// Reports the objects that refer to an owner of which they are not members.
  private func reportReferences(
    _ reference: SchemaIndex.Property, _ relationship: SchemaIndex.Property, _ wrong: Set<Membership>
  ) throws {
    for membership in wrong.sorted(by: { $0.member < $1.member }) where try exists(membership.owner) {
      let words =
        "it refers to \(schema.name(membership.owner)), whose \(relationship.property.name) does not contain it"
      find(.row, .row(membership.member.reference, table: membership.member.entity), words)
    }
  }

  private func explain(_ constraint: SchemaIndex.Constraint) throws {
    let number = constraint.constraint.number
    let differences = try Differences<ObjectReference> { body in
      try forEachHolder(of: constraint, body)
    } _: {
      try forEachObjectWithKey(of: constraint, $0)
    }
    for object in differences.onlyRight.sorted() {
      find(.row, .row(object.reference, table: object.entity), "it has no key for the constraint \(number)")
    }
  }

  private func explain(_ index: Schema.Index) throws {
    let differences = try Differences<ObjectReference> { body in
      try forEachEntry(of: index.number) { _, entry in
        guard case .indexed(_, let key, let object) = try? EntryContent(entry, schema),
          schema.has(object.entity, propertiesOf: index.entity),
          let row = try source.row(object.reference, in: object.entity),
          (try? has(row, key, index)) ?? false
        else { return }
        body(object)
      }
    } _: { body in
      for table in families(index.entity) {
        try source.forEachRow(in: table) { reference, bytes in
          guard (try? has(bytes, [], index)) != nil else { return }
          body(ObjectReference(entity: table, reference: reference))
        }
      }
    }
    for object in differences.onlyRight.sorted() {
      find(.row, .row(object.reference, table: object.entity), "it is not in the index \(index.number)")
    }
  }

  // MARK: Reading

  private func families(_ entity: UInt32) -> [UInt32] { schema.families[entity] ?? [] }

  /// Calls `body` with each entry of a relationship whose owner exists and whose member has the right entity. The other
  /// entries have been reported.
  private func forEachMember(
    of relationship: SchemaIndex.Property, _ body: (_ membership: Membership, _ bound: [UInt8]) throws -> Void
  ) throws {
    guard let destination = relationship.property.kind.relationship?.destination else { return }
    // Entries of one owner follow one another.
    var last: (reference: RowReference, owner: ObjectReference?)?
    try forEachEntry(of: relationship.property.number) { bound, entry in
      guard case .member(_, let reference, let member, _) = try? EntryContent(entry, schema),
        schema.has(member.entity, propertiesOf: destination)
      else { return }
      if last?.reference != reference { last = (reference, try owner(reference, relationship.entity)) }
      if let owner = last?.owner { try body(Membership(owner: owner, member: member), bound) }
    }
  }

  /// Calls `body` with each reference of a to-one relationship to an object of the right entity, as a membership of its
  /// inverse. The other references have been reported.
  private func forEachReference(_ relationship: SchemaIndex.Property, _ body: (Membership) -> Void) throws {
    guard let destination = relationship.property.kind.relationship?.destination else { return }
    for table in families(relationship.entity) {
      try source.forEachRow(in: table) { reference, bytes in
        let field = try? RowFormat.FieldReader.field(relationship.property.number, of: bytes)
        guard let owner = try? field?.object(in: bytes), schema.has(owner.entity, propertiesOf: destination) else {
          return
        }
        body(Membership(owner: owner, member: ObjectReference(entity: table, reference: reference)))
      }
    }
  }

  /// Calls `body` with each object that has an entry with a key that matches its row. The other entries have been
  /// reported.
  private func forEachHolder(of constraint: SchemaIndex.Constraint, _ body: (ObjectReference) -> Void) throws {
    try forEachEntry(of: constraint.constraint.number) { _, entry in
      guard case .key(_, let key, let holder) = try? EntryContent(entry, schema),
        schema.has(holder.entity, propertiesOf: constraint.entity),
        let row = try source.row(holder.reference, in: holder.entity),
        (try? has(row, key, constraint)) ?? false
      else { return }
      body(holder)
    }
  }

  private func forEachObjectWithKey(
    of constraint: SchemaIndex.Constraint, _ body: (ObjectReference) -> Void
  ) throws {
    for table in families(constraint.entity) {
      try source.forEachRow(in: table) { reference, bytes in
        let key = try? UniqueKey.key(of: constraint.constraint.attributes, in: bytes, normalized: { $0 })
        if key != nil { body(ObjectReference(entity: table, reference: reference)) }
      }
    }
  }

  /// Calls `body` with each entry of a relationship, constraint or index.
  func forEachEntry(
    of number: UInt32, _ body: (_ bound: [UInt8], _ entry: [UInt8]) throws -> Void
  ) throws {
    var prefix = ByteOutput()
    prefix.varint(number)
    try source.forEachPack(from: prefix.bytes) { bound, bytes in
      var entries = try PackReader(bytes)
      while try entries.next() {
        if entries.entry.starts(with: prefix.bytes) {
          try body(bound, entries.entry)
        } else if prefix.bytes.lexicographicallyPrecedes(entries.entry) {
          return false
        }
      }
      return true
    }
  }
}
