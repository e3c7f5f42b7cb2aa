import RowFormat

/// Valid bytes of each kind.
enum Samples {
  static let references: [RowReference] = [
    .integer(0), .integer(-1), .integer(.min), .integer(.max), .integer(0x1234_5678), .string(""), .string("a\0b ö"),
    .uuid(0), .uuid(.max),
  ]

  static var schema: Schema {
    var schema = Schema()
    var person = Schema.Entity(number: 1, name: "Person", superentity: 0, isAbstract: false)
    person.properties = [
      Schema.Property(number: 2, name: "name", kind: .attribute(700)),
      Schema.Property(
        number: 3, name: "pets",
        kind: .toMany(Schema.Relationship(destination: 6, inverse: 8, deleteRule: 1), isOrdered: false)),
      Schema.Property(
        number: 4, name: "friends",
        kind: .toMany(Schema.Relationship(destination: 1, inverse: 4, deleteRule: 1), isOrdered: true)),
    ]
    person.constraints = [Schema.Constraint(number: 5, attributes: [2])]
    var pet = Schema.Entity(number: 6, name: "Pet", superentity: 0, isAbstract: true)
    pet.properties = [
      Schema.Property(number: 7, name: "age", kind: .attribute(200)),
      Schema.Property(
        number: 8, name: "owner", kind: .toOne(Schema.Relationship(destination: 1, inverse: 3, deleteRule: 1))),
      Schema.Property(
        number: 9, name: "vet", kind: .toOne(Schema.Relationship(destination: 1, inverse: 0, deleteRule: 1))),
    ]
    schema.entities = [person, pet, Schema.Entity(number: 10, name: "Dog", superentity: 6, isAbstract: false)]
    schema.nextNumber = 11
    return schema
  }

  /// A row with a field of each type.
  static var row: [UInt8] {
    var row = FieldWriter()
    for (number, type) in (0...15).compactMap({ FieldType(rawValue: $0) }).enumerated() {
      row.begin(UInt32(number * 9 + 1), type)
      row.withOutput { output in
        switch type {
        case .null, .falsity, .truth: break
        case .integer: output.integer(-123_456)
        case .double, .date: output.fixed(1.5.bitPattern)
        case .float: output.fixed((2.5 as Float).bitPattern)
        case .uuid: output.append([UInt8](repeating: 7, count: 16))
        case .string, .decimal, .uri, .identifier: output.text("text ö")
        case .data: output.counted([1, 2, 3])
        case .transformed: output.transformed([1, 2, 3])
        case .composite: output.counted(composite(depth: 2))
        case .object:
          var object = ByteOutput()
          object.object(ObjectReference(entity: 300, reference: .string("x")))
          output.counted(object.bytes)
        }
      }
    }
    return row.bytes
  }

  /// Composite values nested `depth` deep.
  static func composite(depth: Int) -> [UInt8] {
    var bytes: [UInt8] = [0]
    for _ in 1..<max(depth, 1) {
      var output = ByteOutput()
      output.varint(1)
      output.text("e")
      output.byte(FieldType.composite.rawValue)
      output.counted(bytes)
      bytes = output.bytes
    }
    return bytes
  }

  /// The property list of a dictionary with one text, as Foundation writes it.
  static var metadata: [UInt8] {
    Array("bplist00".utf8) + [0xD1, 1, 2, 0x51, 0x6B, 0x51, 0x76] + [8, 11, 13] + [0, 0, 0, 0, 0, 0, 1, 1]
      + [0, 0, 0, 0, 0, 0, 0, 3] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 15]
  }

  static var entries: [[UInt8]] {
    let objects = references.map { ObjectReference(entity: 10, reference: $0) }
    let members = objects.flatMap { member in
      references.flatMap { owner in
        [Entry.member(member, of: owner, 3), Entry.member(member, of: owner, 4, position: -5 * Entry.gap)]
      }
    }
    let holders = objects.map { Entry.holder($0, of: [1, 2, 3], 5) }
    return (members + holders).sorted { $0.lexicographicallyPrecedes($1) }
  }

  static var pack: [UInt8] { Pack.bytes(EntryList(entries).prefix(40)) }

  static var origin: [UInt8] {
    var origin = OriginRow(entity: 300)
    (origin.identifier, origin.tag, origin.isPinned) = ("ö/17", "3", true)
    (origin.knownSets, origin.changes) = ([3, 400], [1, 2, .max])
    return origin.bytes
  }

  static var change: [UInt8] {
    let object = ObjectReference(entity: 300, reference: .integer(7))
    var change = OutboxRow(.update, object, key: .max, base: row, values: row)
    change.members = [OutboxRow.Members(relationship: 4, added: [object], removed: [object, object])]
    (change.state, change.refusal) = (.refused, "no")
    return change.bytes
  }

  static var result: [UInt8] {
    var result = ResultRow(key: "Dog dogs", entity: 10)
    (result.generation, result.pages, result.formerPages, result.cursor) = (3, 2, 1, "next")
    result.freshFor = 60
    return result.bytes
  }

  static let numbers = NumbersGivenOut(store: 1 << 100, base: 1 << 21, range: 1 << 22, next: 4097).bytes
}
