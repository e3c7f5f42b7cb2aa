/// The entries of a to-many relationship that a migration makes, from what the store had before for the relationship or
/// for its inverse.
struct RelationshipSource: EntrySource {
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
  let number: UInt32
  /// Not if the pairs are reversed: only members that are read one after the other can be counted.
  let isOrdered: Bool
  let pairs: Pairs
  /// Whether the owner in a pair becomes the member of the new relationship.
  let areReversed: Bool
  /// The entities of the owners in the pairs.
  let owners: [UInt32]

  /// The number of the relationship in whose entries the pairs are; nil if they are in fields.
  var origin: UInt32? { if case .entries(let number, _) = pairs { number } else { nil } }

  func reader() -> any EntryReader {
    switch pairs {
    case .field(let field): FieldReading(source: self, field: field, rows: RowPlace(owners))
    case .entries(let number, let isOrdered): EntryReading(source: self, number: number, isOrdered: isOrdered)
    }
  }

  /// - Parameter place: How many members the owner of the pair has up to this one.
  private func entry(_ owner: ObjectReference, _ member: ObjectReference, place: Int64) -> [UInt8] {
    let (owner, member) = areReversed ? (member, owner) : (owner, member)
    return Entry.member(member, of: owner.reference, number, position: isOrdered ? place * Entry.gap : nil)
  }

  private struct FieldReading: EntryReader {
    let source: RelationshipSource
    let field: UInt32
    var rows: RowPlace

    mutating func read(_ snapshot: any RowSnapshot, limit: Int, _ body: ([UInt8]) throws -> Void) throws -> Bool {
      try rows.read(snapshot, limit: limit) { owner, row in
        let member = try StoreFailure.reading("The row of \(owner)") {
          try FieldReader.field(field, of: row.bytes)?.object(in: row.bytes)
        }
        if let member, try snapshot.row(member.reference, in: member.entity) != nil {
          try body(source.entry(owner, member, place: 1))
        }
      }
    }
  }

  private struct EntryReading: EntryReader {
    let source: RelationshipSource
    let number: UInt32
    let isOrdered: Bool
    /// The next entry, if entries have been read; nil after the last.
    private var next: [UInt8]?
    private var owner: RowReference?
    private var entity: UInt32?
    private var count: Int64 = 0

    init(source: RelationshipSource, number: UInt32, isOrdered: Bool) {
      (self.source, self.number, self.isOrdered) = (source, number, isOrdered)
      next = Entry.all(of: number)
    }

    mutating func read(_ snapshot: any RowSnapshot, limit: Int, _ body: ([UInt8]) throws -> Void) throws -> Bool {
      guard let first = next else { return false }
      var left = limit
      next = nil
      try snapshot.forEachEntry(from: first, before: Entry.successor(of: Entry.all(of: number)), reverse: false) {
        entry in
        guard left > 0 else {
          next = entry
          return false
        }
        left -= 1
        let (reference, member) = try StoreFailure.reading("An entry of the relationship \(number)") {
          try Entry.membership(in: entry, isOrdered: isOrdered)
        }
        if reference != owner { try begin(reference, snapshot) }
        count += 1
        if let entity {
          try body(source.entry(ObjectReference(entity: entity, reference: reference), member, place: count))
        }
        return true
      }
      return next != nil
    }

    private mutating func begin(_ reference: RowReference, _ snapshot: any RowSnapshot) throws {
      (owner, count) = (reference, 0)
      let owners = source.owners
      entity = try owners.count == 1 ? owners.first : owners.first { try snapshot.row(reference, in: $0) != nil }
    }
  }
}
