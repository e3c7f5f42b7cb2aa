import Cairn
import CairnInspection
import RowFormat
import Testing

/// What kvdump prints about the rows of Core Data stores.
@Suite struct RowRoleTests {
  private var schema: Schema {
    var person = Schema.Entity(number: 1, name: "Person", superentity: 0, isAbstract: false)
    let pets = Schema.Relationship(destination: 5, inverse: 7, deleteRule: 1)
    person.properties = [
      Schema.Property(number: 2, name: "name", kind: .attribute(700)),
      Schema.Property(number: 3, name: "pets", kind: .toMany(pets, isOrdered: false)),
    ]
    person.constraints = [Schema.Constraint(number: 4, attributes: [2])]
    var pet = Schema.Entity(number: 5, name: "Pet", superentity: 0, isAbstract: false)
    let owner = Schema.Relationship(destination: 1, inverse: 3, deleteRule: 1)
    pet.properties = [
      Schema.Property(number: 6, name: "name", kind: .attribute(700)),
      Schema.Property(number: 7, name: "owner", kind: .toOne(owner)),
    ]
    var schema = Schema()
    schema.entities = [person, pet]
    schema.nextNumber = 8
    return schema
  }

  private var names: ObjectNames { ObjectNames(schema, uuid: "STORE") }
  private let ann = ObjectReference(entity: 1, reference: .integer(1))
  private let rex = ObjectReference(entity: 5, reference: .integer(2))

  /// The property list of a dictionary without a UUID.
  private let metadata: [UInt8] =
    Array("bplist00".utf8) + [0xD1, 1, 2, 0x51, 0x6B, 0x51, 0x76] + [8, 11, 13] + [0, 0, 0, 0, 0, 0, 1, 1]
    + [0, 0, 0, 0, 0, 0, 0, 3] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 15]

  @Test("The keyspaces and rows of a Core Data store have roles, and no other rows do")
  func roles() {
    #expect(names.role(of: .integer(1), in: "table 0") == .metadata)
    #expect(names.role(of: .integer(2), in: "table 0") == .schema)
    #expect(names.role(of: .integer(3), in: "table 0") == .reservedReferences)
    #expect(names.role(of: .integer(4), in: "table 0") == .historyHead)
    #expect(names.role(of: .integer(7), in: "table 4294967295") == .transaction(7))
    #expect(names.title(of: "table 4294967295") == "history")
    #expect(names.role(of: .integer(2), in: "table 5") == .object(rex))
    #expect(names.role(of: .bytes([3]), in: "entries") == .entries(from: [3]))
    #expect(names.title(of: "table 5") == "Pet")
    for (key, keyspace) in [
      (.integer(6), "table 0"), (.bytes([1]), "table 5"), (.integer(1), "table 05"), (.integer(1), "table 9"),
      (.integer(1), "entries"), ("Berlin", "cities"), (.integer(1), "table 4294967293"), ("1", "table 4294967292"),
    ] as [(Key, String)] {
      #expect(names.role(of: key, in: keyspace) == nil, "\(key) in \(keyspace)")
    }
    #expect(names.title(of: "cities") == nil)
  }

  @Test("What a store knows of a remote service has roles, and is decoded")
  func remote() throws {
    #expect(names.role(of: .integer(5), in: "table 0") == .remoteHead)
    #expect(names.role(of: .integer(2), in: "table 4294967294") == .origin(.integer(2)))
    #expect(names.role(of: "0a", in: "table 4294967293") == .result("0a"))
    #expect(names.role(of: "0a/1/00000000", in: "table 4294967293") == .resultPage("0a/1/00000000"))
    #expect(names.role(of: .integer(3), in: "table 4294967292") == .outboxChange(3))
    let titles = [4_294_967_294, 4_294_967_293, 4_294_967_292].map { names.title(of: "table \($0)") }
    #expect(titles == ["origins at the service", "lists of the service", "changes for the service"])
    guard case .origin(let origin) = names.content(of: .origin(.integer(2)), OriginRow(entity: 5).bytes),
      case .outboxChange(let change) = names.content(
        of: .outboxChange(1), OutboxRow(.insert, rex, key: 1, base: [1], values: [1]).bytes),
      case .object(let values, isPartial: true) = names.content(of: .object(rex), [2])
    else {
      Issue.record("a row was not decoded")
      return
    }
    #expect(origin.entity == 5)
    #expect(change.object == rex)
    #expect(values.isEmpty)
    let pack = Pack.bytes(EntryList([Entry.remote("17", 5, rex)]).prefix(1))
    guard case .entries(let entries) = names.content(of: .entries(from: []), pack),
      case .identified(root: 5, identifier: "17", object: rex) = entries.first
    else {
      Issue.record("the pack was not decoded")
      return
    }
  }

  @Test("A keyspace option names an entity or a keyspace")
  func keyspaces() {
    #expect(names.keyspace(named: "Pet") == "table 5")
    #expect(names.keyspace(named: "table 1") == "table 1")
    #expect(names.keyspace(named: "cities") == "cities")
  }

  @Test("The values of a row have the names of their properties, and a number where the schema has no name")
  func values() throws {
    var row = FieldWriter()
    row.begin(6, .string)
    row.withOutput { $0.text("Rex") }
    row.object(ann, 7)
    row.begin(9, .truth)
    guard case .object(let values, isPartial: false) = names.content(of: .object(rex), row.bytes) else {
      Issue.record("the row was not decoded")
      return
    }
    #expect(values.map(\.name) == ["name", "owner", "property 9"])
    #expect(values.map(\.isRelationship) == [false, true, false])
    #expect(values.map(\.value) == [.string("Rex"), .object(ann), .bool(true)])
  }

  @Test("The entries of a pack are members of relationships and holders of unique keys")
  func entries() throws {
    let key: [UInt8] = [FieldType.string.rawValue, 3] + Array("Ann".utf8)
    let pack = Pack.bytes(
      EntryList([Entry.member(rex, of: ann.reference, 3), Entry.holder(ann, of: key, 4)]).prefix(2))
    guard case .entries(let entries) = names.content(of: .entries(from: []), pack), entries.count == 2,
      case .member(let pets, let owner, let member, nil) = entries[0],
      case .key(let constraint, let foundKey, let holder) = entries[1]
    else {
      Issue.record("the pack was not decoded")
      return
    }
    #expect(names.name(of: pets) == "Person.pets")
    #expect(owner == ann.reference)
    #expect(member == rex)
    #expect(names.attributes(of: constraint) == ["name"])
    #expect(UniqueKey.values(in: foundKey, 1) == [.string("Ann")])
    #expect(holder == ann)
  }

  @Test("A key that is stored as a hash has no values")
  func hash() {
    #expect(UniqueKey.values(in: [UInt8](repeating: 0xEE, count: UniqueKey.hashLength), 1) == nil)
  }

  @Test("The last reserved reference of the last block of a range is found")
  func reserved() {
    let numbers = NumbersGivenOut(store: 0, base: 0, range: (1 << 31) - 1, next: 1 << 32)
    guard case .reservedReferences(let found) = names.content(of: .reservedReferences, numbers.bytes) else {
      Issue.record("the row was not decoded")
      return
    }
    #expect(found.last == UInt64(Int64.max))
  }

  @Test("A damaged value has no content, whatever its row is")
  func damage() {
    let roles: [RowRole] = [
      .metadata, .schema, .reservedReferences, .historyHead, .transaction(1), .remoteHead, .origin(.integer(1)),
      .result("list"), .resultPage("list/1/0"), .outboxChange(1), .object(ann), .entries(from: []),
    ]
    for role in roles {
      for bytes in [[], [9], [1, 0xFF], [UInt8](repeating: 0xFF, count: 40)] as [[UInt8]] {
        #expect(names.content(of: role, bytes) == nil, "\(role) of \(bytes)")
      }
    }
    #expect(names.entry(at: [3, 0xFF]) == nil)
  }

  @Test("Names are read from the schema in a store, and a store without a readable schema has none")
  func reading() throws {
    try withTemporaryDirectory { directory in
      let store = try Store.open(at: directory + "/store")
      defer { try? store.close() }
      #expect(ObjectNames.read(from: store) == nil)
      let head = try store.keyspace("table 0")
      try store.put(metadata, at: .integer(1), in: head)
      #expect(ObjectNames.read(from: store) == nil)
      try store.put(schema.bytes, at: .integer(2), in: head)
      #expect(ObjectNames.read(from: store)?.entityName(5) == "Pet")
      try store.put([1, 0xFF], at: .integer(2), in: head)
      #expect(ObjectNames.read(from: store) == nil)
    }
  }

  @Test("The space of packs is reported by relationship and constraint")
  func space() throws {
    try withTemporaryDirectory { directory in
      let store = try Store.open(at: directory + "/store")
      defer { try? store.close() }
      let head = try store.keyspace("table 0")
      try store.put(metadata, at: .integer(1), in: head)
      try store.put(schema.bytes, at: .integer(2), in: head)
      let packs = try store.keyspace("entries")
      for bound in [[], Entry.member(rex, of: ann.reference, 3), Entry.holder(ann, of: [], 4)] {
        try store.put([], at: .bytes(bound), in: packs)
      }
      let report = try SpaceReport(of: store)
      let prefixes = report.keyspaces.first { $0.name == "entries" }?.prefixes.hottest(9).map(\.prefix) ?? []
      #expect(prefixes.sorted() == ["Person by name", "Person.pets", "the first entries"])
    }
  }
}
