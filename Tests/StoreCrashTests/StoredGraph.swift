import Cairn

/// The contents of a store, read from its rows and packs as STORE-FORMAT.md describes.
struct StoredGraph {
  private struct Member: Hashable {
    let owner: Int64
    let member: StoredObject
  }

  private struct Key: Hashable {
    let constraint: Int
    let key: [UInt8]
    let holder: StoredObject
  }

  private let schema: StoredSchema
  private var rows: [StoredObject: StoredFields] = [:]
  /// The members of each relationship, in the order of the entries.
  private var members: [Relation: [Member]] = [:]
  private var keys: [Key] = []
  /// The entries of declared indexes.
  private var indexed: Set<[UInt8]> = []

  init(_ store: Store) throws {
    let names = Dictionary(uniqueKeysWithValues: store.keyspaces.map { ($0.name, $0) })
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    guard let head = names["table 0"], let schema = try snapshot.row(.integer(2), in: head) else {
      throw CrashFailure("the store has no schema")
    }
    self.schema = try StoredSchema(schema.value)
    for number in self.schema.entities.keys {
      guard let table = names["table \(number)"] else { continue }
      for row in try snapshot.rows(in: table) {
        guard case .integer(let reference) = row.key else { throw CrashFailure("a row has no number") }
        rows[StoredObject(entity: number, reference: reference)] = try StoredFields(row.value)
      }
      guard let touches = names["touches \(number)"] else { continue }
      for row in try snapshot.rows(in: touches) {
        guard case .integer(let reference) = row.key, row.value.isEmpty,
          rows[StoredObject(entity: number, reference: reference)] != nil
        else { throw CrashFailure("\(row.key) of \(number) was touched and does not exist") }
      }
    }
    let entries = try names["entries"].map { try StoredPacks.entries(snapshot.rows(in: $0)) } ?? []
    for entry in entries { try take(entry) }
  }

  private mutating func take(_ entry: [UInt8]) throws {
    var input = ByteReader(entry)
    let number = try input.varint()
    if let name = schema.properties[number] {
      guard let relation = Relation(rawValue: name), relation.isToMany else {
        throw CrashFailure("there is an entry of \(name)")
      }
      let owner = try input.reference()
      if relation.isOrdered { _ = try input.take(8) }
      members[relation, default: []].append(Member(owner: owner, member: try input.object()))
    } else if schema.indexes[number] != nil {
      indexed.insert(entry)
      _ = input.remainder()
    } else {
      keys.append(Key(constraint: number, key: try input.counted(), holder: try input.object()))
    }
    try require(input.isAtEnd, "an entry has more after it")
  }

  // MARK: Entries and rows

  /// Requires that the entries are exactly those that follow from the rows, and that both ends of relationships agree.
  func check() throws {
    try checkKeys()
    try checkIndexes()
    let present = Set(rows.keys.map(\.reference))
    for relation in Relation.allCases where relation.isToMany {
      let entries = members[relation] ?? []
      let found = Set(entries)
      try require(found.count == entries.count, "a thing is a member of \(relation) twice")
      try require(found.allSatisfy { present.contains($0.owner) }, "a thing that is gone has \(relation)")
      guard let inverse = relation.inverse else {
        try require(
          found.allSatisfy { rows[$0.member] != nil }, "a thing that is gone is in \(relation)")
        continue
      }
      let expected = inverse.isToMany ? mirrored(inverse) : try followed(inverse, present)
      let lacking = expected.subtracting(found)
      let needless = found.subtracting(expected)
      try require(lacking.isEmpty, "entries of \(relation) are lacking: \(Array(lacking.prefix(3)))")
      try require(needless.isEmpty, "entries of \(relation) follow from nothing: \(Array(needless.prefix(3)))")
    }
  }

  /// The entries of a relationship with owner and member exchanged.
  private func mirrored(_ relation: Relation) -> Set<Member> {
    let objects = Dictionary(uniqueKeysWithValues: rows.keys.map { ($0.reference, $0) })
    return Set(
      (members[relation] ?? []).compactMap { entry in
        objects[entry.owner].map { Member(owner: entry.member.reference, member: $0) }
      })
  }

  /// The members that follow from the fields of a to-one relationship.
  private func followed(_ relation: Relation, _ present: Set<Int64>) throws -> Set<Member> {
    var followed: Set<Member> = []
    for (object, row) in rows {
      guard case .object(let owner)? = try named(row, object)[relation.rawValue], present.contains(owner.reference)
      else { continue }
      followed.insert(Member(owner: owner.reference, member: object))
    }
    return followed
  }

  private func checkKeys() throws {
    var expected: Set<Key> = []
    for (object, row) in rows {
      for constraint in schema.constraints(of: object.entity) {
        let parts = constraint.attributes.compactMap { row.bytes[$0] }
        guard parts.count == constraint.attributes.count else { continue }
        expected.insert(Key(constraint: constraint.number, key: parts.flatMap { $0 }, holder: object))
      }
    }
    try require(
      Set(keys) == expected, "keys are not those of the rows: \(Array(expected.symmetricDifference(keys).prefix(3)))")
    let taken = Set(
      keys.map { Key(constraint: $0.constraint, key: $0.key, holder: StoredObject(entity: 0, reference: 0)) })
    try require(taken.count == keys.count, "two things have the same key")
  }

  private func checkIndexes() throws {
    var expected: Set<[UInt8]> = []
    for (object, row) in rows {
      for (number, index) in schema.indexes where schema.inherits(object.entity, from: index.entity) {
        let isInside = index.conditions.allSatisfy { property, isEqual, constant in
          (row.sortedKey(of: [property]) == constant) == isEqual
        }
        guard isInside else { continue }
        expected.insert(StoredFields.varint(number) + row.sortedKey(of: index.properties) + object.bytes)
      }
    }
    let wrong = expected.symmetricDifference(indexed)
    try require(wrong.isEmpty, "entries of indexes are not those of the rows: \(Array(wrong.prefix(3)))")
  }

  private func named(_ row: StoredFields, _ object: StoredObject) throws -> [String: StoredFields.Value] {
    var named: [String: StoredFields.Value] = [:]
    for (number, value) in row.fields {
      guard let name = schema.property(number, of: object.entity) else {
        throw CrashFailure("a row has a field \(number), which is not of its entity")
      }
      named[name] = value
    }
    return named
  }

  // MARK: In plain words

  /// The things by serial number; `serials` gives the serial number for each reference.
  func graph(_ serials: [Int64: Int]) throws -> Graph {
    func serial(_ reference: Int64) throws -> Int {
      guard let serial = serials[reference] else { throw CrashFailure("nobody was given the number \(reference)") }
      return serial
    }
    var graph: Graph = [:]
    for (object, stored) in rows {
      var row = GraphRow(isSpecial: schema.entities[object.entity]?.name == "Special")
      row.reference = object.reference
      let fields = try named(stored, object)
      for attribute in Attribute.allCases {
        switch fields[attribute.rawValue] {
        case .number(let number): row[attribute] = .number(number)
        case .text(let text): row[attribute] = .text(text)
        default: break
        }
      }
      for relation in Relation.allCases {
        if case .object(let other)? = fields[relation.rawValue] { row[relation] = [try serial(other.reference)] }
      }
      let own = try serial(object.reference)
      try require(fields["serial"] == .number(Int64(own)), "the number \(object.reference) has another thing")
      graph[own] = row
    }
    for (relation, entries) in members {
      let byOwner = Dictionary(grouping: entries, by: \.owner)
      for (owner, entries) in byOwner {
        graph[try serial(owner)]?[relation] = try entries.map { try serial($0.member.reference) }
      }
    }
    return graph
  }
}
