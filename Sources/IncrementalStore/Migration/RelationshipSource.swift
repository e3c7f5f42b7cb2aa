/// Where the entries of a to-many relationship come from that a migration makes: from what the store had before for the
/// relationship or for its inverse.
struct RelationshipSource {
  /// Where the pairs of objects are.
  enum Pairs {
    /// In a field of the rows, which refers to one object.
    case field(UInt32)
    /// In the entries of a relationship.
    case entries(UInt32, isOrdered: Bool)

    init(_ former: Schema.Property) {
      switch former.kind {
      case .toMany(_, let isOrdered): self = .entries(former.number, isOrdered: isOrdered)
      case .toOne, .attribute: self = .field(former.number)
      }
    }

    var isToMany: Bool { if case .entries = self { true } else { false } }
    var isOrdered: Bool { if case .entries(_, isOrdered: true) = self { true } else { false } }
  }

  /// The number of the relationship whose entries are made.
  let relationship: UInt32
  let isOrdered: Bool
  let pairs: Pairs
  /// Whether the owner in a pair becomes the member of the new relationship.
  let areReversed: Bool
  /// The entities of the owners in the pairs.
  let owners: [UInt32]

  func collect(_ snapshot: any RowSnapshot, into entries: inout EntryChanges) throws {
    var counts: [RowReference: Int64] = [:]
    func add(_ owner: ObjectReference, _ member: ObjectReference) {
      let (owner, member) = areReversed ? (member, owner) : (owner, member)
      var position: Int64?
      if isOrdered {
        counts[owner.reference, default: 0] += 1
        position = counts[owner.reference].map { $0 * Entry.gap }
      }
      entries.add(Entry.member(member, of: owner.reference, relationship, position: position))
    }
    switch pairs {
    case .field(let number):
      for table in owners.sorted() {
        try snapshot.forEachRow(in: table, from: nil) { row in
          let owner = ObjectReference(entity: table, reference: row.reference)
          let member = try StoreFailure.reading("The row of \(owner)") {
            try FieldReader.field(number, of: row.bytes)?.object(in: row.bytes)
          }
          if let member, try snapshot.row(member.reference, in: member.entity) != nil { add(owner, member) }
          return true
        }
      }
    case .entries(let number, let isOrdered):
      try snapshot.forEachEntry(beginningWith: Entry.all(of: number)) { entry in
        let (reference, member) = try StoreFailure.reading("An entry of the relationship \(number)") {
          try Entry.membership(in: entry, isOrdered: isOrdered)
        }
        let entity = try owners.count == 1 ? owners.first : owners.first { try snapshot.row(reference, in: $0) != nil }
        if let entity { add(ObjectReference(entity: entity, reference: reference), member) }
        return true
      }
    }
  }
}
