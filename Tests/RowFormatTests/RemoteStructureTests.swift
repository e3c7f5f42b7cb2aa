import Foundation
import RowFormat
import Testing

@testable import CairnInspection

@Suite("Consistency of what is known of a remote service")
struct RemoteStructureTests {
  private let store = MemoryStructure()
  private let list = ResultRow.reference(of: "Person people")

  /// Two people with remote identifiers, and one of whom nothing but that is known; a dog of which the service knows
  /// nothing yet; a dog that was deleted while an update was on its way, and one while its insertion was; a list, of
  /// which an object does not exist any more.
  init() {
    store.rows[1]?[.integer(5)] = FieldWriter(isPartial: true).bytes
    store.rows[0]?[.integer(5)] = head(next: 10)
    put(origin("a", knownSets: [3, 4], changes: [2]), of: .person(1))
    put(origin("b"), of: .person(2))
    put(origin("c"), of: .person(5))
    put(origin(nil, changes: [1]), of: .dog(3))
    put(origin("x", changes: [3, 4]), of: .dog(7))
    put(origin(nil, changes: [5, 6]), of: .dog(8))
    store.entries += [
      Entry.remote("a", 1, .person(1)), Entry.remote("b", 1, .person(2)), Entry.remote("c", 1, .person(5)),
      Entry.remote("x", 6, .dog(7)),
    ]
    put(OutboxRow(.insert, .dog(3), key: 1, base: none, values: dog(owner: 1, vet: 2)), 1)
    var update = OutboxRow(.update, .person(1), key: 2, base: person("Bob"), values: person("Ann"))
    update.members = [OutboxRow.Members(relationship: 3, added: [.dog(3)], removed: [])]
    put(update, 2)
    put(OutboxRow(.update, .dog(7), key: 3, base: dog(owner: 1), values: dog(owner: 2)), 3)
    put(deletion(of: .dog(7)), 4)
    put(OutboxRow(.insert, .dog(8), key: 5, base: none, values: dog(owner: 1)), 5)
    put(deletion(of: .dog(8)), 6)
    put(people())
    put([.person(1), .person(9)], page: 0, generation: 2)
    put([], page: 1, generation: 2)
    put([.person(2)], page: 0, generation: 1)
  }

  private let none = FieldWriter().bytes

  private func head(next: UInt64) -> [UInt8] {
    var head = RemoteHead(account: "ann")
    head.nextChange = next
    return head.bytes
  }

  private func origin(
    _ identifier: String?, knownSets: [UInt64] = [], changes: [UInt64] = []
  ) -> (UInt32) -> OriginRow {
    { entity in
      var origin = OriginRow(entity: entity)
      (origin.identifier, origin.knownSets, origin.changes) = (identifier, knownSets, changes)
      return origin
    }
  }

  private func put(_ origin: (UInt32) -> OriginRow, of object: ObjectReference) {
    store.rows[OriginRow.table, default: [:]][object.reference] = origin(object.entity).bytes
  }

  private func put(_ change: OutboxRow, _ number: Int64) {
    store.rows[OutboxRow.table, default: [:]][.integer(number)] = change.bytes
  }

  private func deletion(of object: ObjectReference) -> OutboxRow {
    OutboxRow(.delete, object, key: 9, base: dog(owner: 1), values: none)
  }

  private func people(pages: UInt64 = 2, formerPages: UInt64 = 1) -> ResultRow {
    var row = ResultRow(key: "Person people", entity: 1)
    (row.generation, row.pages, row.formerPages) = (2, pages, formerPages)
    return row
  }

  private func put(_ row: ResultRow) { store.rows[ResultRow.table, default: [:]][list] = row.bytes }

  private func put(_ objects: [ObjectReference], page: UInt64, generation: UInt64) {
    let reference = ResultRow.reference(of: page, generation, of: "Person people")
    store.rows[ResultRow.table, default: [:]][reference] = ResultPage(objects).bytes
  }

  @Test("The check finds nothing in a sound store.") func sound() throws { #expect(try store.findings() == []) }

  @Test("The check finds a head that is missing or unreadable.") func head() throws {
    let place = StructureFinding.Place.row(.integer(5), table: 0)
    store.rows[0]?[.integer(5)] = nil
    try expect("there is no head of the remote service", .head, place)
    store.rows[0]?[.integer(5)] = [1, 2]
    try expect("the head of the remote service: ", .head, place)
    for table in [OriginRow.table, ResultRow.table, OutboxRow.table] { store.rows[table] = [:] }
    store.rows[1]?[.integer(5)] = nil
    store.entries.removeAll { $0.first == 0 }
    store.rows[0]?[.integer(5)] = nil
    #expect(try store.findings() == [])
  }

  @Test("The check finds origins that are unreadable, or of no object.") func origins() throws {
    store.rows[OriginRow.table]?[.integer(2)] = [1]
    try expect("the origin: ", .row, .row(.integer(2), table: OriginRow.table))
    put(origin("b"), of: .person(2))
    put(origin(nil), of: .person(9))
    try expect("Person 9, whose origin this is, does not exist", .row, .row(.integer(9), table: OriginRow.table))
    put(origin(nil), of: ObjectReference(entity: 2, reference: .integer(9)))
    try expect("the schema has no entity 2", .row, .row(.integer(9), table: OriginRow.table))
  }

  @Test(
    "The check finds known members of what is not a to-many relationship of the entity.", arguments: [2, 8, 1 << 40])
  func knownSets(_ number: UInt64) throws {
    put(origin("b", knownSets: [number]), of: .person(2))
    try expect("Person 2 has no to-many relationship \(number)", .row, .row(.integer(2), table: OriginRow.table))
  }

  @Test("The check finds a remote identifier without an entry, and entries of no, another or two origins.")
  func identifiers() throws {
    let sound = store.entries
    store.entries.removeAll { $0 == Entry.remote("b", 1, .person(2)) }
    try expect(
      "there is no entry for the remote identifier of Person 2", .row, .row(.integer(2), table: OriginRow.table))
    store.entries = sound + [Entry.remote("d", 1, .person(2))]
    try expect("Person 2 has a remote identifier that its origin does not have", .entry)
    store.entries = sound + [Entry.remote("d", 6, .dog(4))]
    try expect("Dog 4 has a remote identifier that its origin does not have", .entry)
    store.entries = sound + [Entry.remote("d", 6, .dog(3))]
    try expect("Dog 3 has a remote identifier that its origin does not have", .entry)
    store.entries = sound + [Entry.remote("d", 10, .dog(3))]
    try expect("Dog 3 has a remote identifier of the entity 10, which is not its own", .entry)
    store.entries = sound + [Entry.remote("b", 1, .person(5))]
    try expect("Person 5 has the remote identifier of another object", .entry)
    store.entries = sound + [Entry.remote("b", 1, .person(2)).dropLast() + [0]]
    try expect("an entry: ", .entry)
  }

  @Test("The identifiers of a subentity are under the entity that inherits from none.") func roots() throws {
    put(origin("d", changes: [1]), of: .dog(3))
    store.entries.append(Entry.remote("d", 6, .dog(3)))
    #expect(try store.findings() == [])
  }

  @Test("The check finds changes that only the origin or only the outbox has.") func changes() throws {
    put(origin("b", changes: [7]), of: .person(2))
    try expect("the change 7 of Person 2 is not in the outbox", .row, .row(.integer(2), table: OriginRow.table))
    put(origin("b", changes: [2]), of: .person(2))
    try expect(
      "the change 2 is one of Person 1, and not of Person 2", .row, .row(.integer(2), table: OriginRow.table))
    put(origin("b"), of: .person(2))
    put(OutboxRow(.update, .person(2), key: 7, base: none, values: none), 7)
    try expect("the origin of Person 2 does not list the change", .row, .row(.integer(7), table: OutboxRow.table))
  }

  @Test("The check finds changes of objects that have no origin, and deleted objects that are not to be deleted.")
  func orphans() throws {
    store.rows[OriginRow.table]?[.integer(8)] = nil
    let findings = try store.findings()
    #expect(findings.map(\.words) == ["Dog 8 has no origin", "Dog 8 has no origin"])
    #expect(findings.map(\.place) == [5, 6].map { .row(.integer($0), table: OutboxRow.table) })
    put(origin(nil, changes: [5]), of: .dog(8))
    store.rows[OutboxRow.table]?[.integer(6)] = nil
    try expect(
      "Dog 8, whose origin this is, does not exist, and no deletion waits to be sent", .row,
      .row(.integer(8), table: OriginRow.table))
  }

  @Test("The check finds changes with numbers that were not given out.") func numbers() throws {
    store.rows[0]?[.integer(5)] = head(next: 6)
    try expect(
      "a change has the number 6, but the next number is 6", .row, .row(.integer(6), table: OutboxRow.table))
    store.rows[0]?[.integer(5)] = head(next: 7)
    #expect(try store.findings() == [])
    put(deletion(of: .dog(9)), 0)
    try expect("a change has the number 0", .row, .row(.integer(0), table: OutboxRow.table))
  }

  @Test("The check finds changes whose contents do not belong to their entity.") func contents() throws {
    func expect(_ words: String, _ change: OutboxRow) throws {
      put(change, 2)
      try self.expect("the change: \(words)", .row, .row(.integer(2), table: OutboxRow.table))
    }
    let update = OutboxRow(.update, .person(1), key: 2, base: person("Bob"), values: person("Ann"))
    var change = update
    change.base = []
    try expect("the values before it: it ends too early", change)
    change = update
    change.values = dog(owner: 1)
    try expect("the values after it: Person has no property 8", change)
    change.values = [1, 0x23, 1]
    try expect("the values after it: name has a field of type integer", change)
    change = update
    change.refusal = "no"
    try expect("it has a reason for a refusal", change)
    change.state = .refused
    put(change, 2)
    #expect(try store.findings() == [])
    change = update
    change.members = [OutboxRow.Members(relationship: 2, added: [], removed: [])]
    try expect("Person 1 has no to-many relationship 2", change)
    change.members = [OutboxRow.Members(relationship: 3, added: [], removed: [.person(2)])]
    try expect("the member Person 2 of pets has the wrong entity", change)
    change = update
    change.kind = .delete
    try expect("a deletion has values after it", change)
    store.rows[OutboxRow.table]?[.integer(2)] = [1]
    try self.expect("the change: it ends too early", .row, .row(.integer(2), table: OutboxRow.table))
  }

  @Test("The check finds lists that are unreadable, of no entity, or under another reference.") func lists() throws {
    let place = StructureFinding.Place.row(list, table: ResultRow.table)
    store.rows[ResultRow.table]?[list] = [1]
    try expect("the list: ", .row, place)
    let pages = store.rows[ResultRow.table]
    store.rows[ResultRow.table] = [list: ResultRow(key: "Person people", entity: 2).bytes]
    try expect("the schema has no entity 2", .row, place)
    store.rows[ResultRow.table] = [list: ResultRow(key: "Person others", entity: 1).bytes]
    try expect("the reference is not that of the list's key", .row, place)
    store.rows[ResultRow.table] = [.integer(1): ResultRow(key: "Person people", entity: 1).bytes]
    try expect("a list or a page has the reference 1", .row, .row(.integer(1), table: ResultRow.table))
    store.rows[ResultRow.table] = pages?.filter { $0.key != list }
    let words = try store.findings().map(\.words)
    #expect(words == [String](repeating: "the page belongs to no list", count: 3))
  }

  @Test("The check finds pages that are missing, too many, or unreadable.") func pages() throws {
    let place = StructureFinding.Place.row(list, table: ResultRow.table)
    put(people(pages: 5))
    try expect("3 of 5 of its pages are missing", .row, place)
    put(people(formerPages: 2))
    try expect("1 of 2 of the pages of the generation before are missing", .row, place)
    func page(_ page: UInt64, _ generation: UInt64) -> StructureFinding.Place {
      .row(ResultRow.reference(of: page, generation, of: "Person people"), table: ResultRow.table)
    }
    put(people(pages: 1))
    try expect("the list does not have the page", .row, page(1, 2))
    put(people(formerPages: 0))
    try expect("the list does not have the page", .row, page(0, 1))
    put(people())
    put([.person(1)], page: 0, generation: 3)
    try expect("the list does not have the page", .row, page(0, 3))
    store.rows[ResultRow.table]?[ResultRow.reference(of: 0, 3, of: "Person people")] = nil
    let odd = RowReference.string("\(list.description)/2/0")
    store.rows[ResultRow.table]?[odd] = ResultPage([] as [ObjectReference]).bytes
    try expect("this is not a reference of a page of the list", .row, .row(odd, table: ResultRow.table))
    store.rows[ResultRow.table]?[odd] = nil
    store.rows[ResultRow.table]?[ResultRow.reference(of: 1, 2, of: "Person people")] = [1, 7]
    try expect("the page: ", .row, page(1, 2))
  }

  @Test("The check finds objects of no entity on pages.") func objectsOnPages() throws {
    put([.dog(3)], page: 1, generation: 2)
    #expect(try store.findings() == [])
    put([ObjectReference(entity: 2, reference: .integer(9))], page: 1, generation: 2)
    try expect(
      "the schema has no entity 2", .row,
      .row(ResultRow.reference(of: 1, 2, of: "Person people"), table: ResultRow.table))
  }

  @Test("What is known of objects of an entity that was removed is not checked.", arguments: [true, false])
  func removedEntity(isBeingRemoved: Bool) throws {
    var schema = Samples.schema
    schema.nextNumber = 12
    if isBeingRemoved { schema.removals = [.table(11)] }
    store.rows[0]?[.integer(2)] = schema.bytes
    let object = ObjectReference(entity: 11, reference: .integer(9))
    if isBeingRemoved { store.rows[11] = [.integer(9): none] }
    put(origin("z", knownSets: [12], changes: [7, 8]), of: object)
    store.entries += [Entry.remote("a", 1, object), Entry.remote("z", 11, object)]
    put(OutboxRow(.update, object, key: 3, base: none, values: [7]), 7)
    put([.person(1), object], page: 1, generation: 2)
    var update = OutboxRow(.update, .person(1), key: 2, base: none, values: none)
    update.members = [OutboxRow.Members(relationship: 3, added: [], removed: [object])]
    put(update, 2)
    let list = ResultRow.reference(of: "Cat cats")
    var cats = ResultRow(key: "Cat cats", entity: 11)
    cats.pages = 2
    store.rows[ResultRow.table]?[list] = cats.bytes
    store.rows[ResultRow.table]?[ResultRow.reference(of: 0, 0, of: "Cat cats")] = ResultPage([.dog(3)]).bytes
    #expect(try store.findings() == [])
  }

  @Test("The check finds an object that is not loaded in whole, but has no origin.") func partial() throws {
    store.rows[10]?[.integer(9)] = FieldWriter(isPartial: true).bytes
    try expect("it is not loaded in whole, but has no origin", .row, .row(.integer(9), table: 10))
  }

  @Test("An object that is not loaded in whole is in indexes and constraints like one whose other values are nil.")
  func partialInIndexes() throws {
    var schema = Samples.schema
    // A value for rows that were written before the property existed does not apply to what is not known.
    let name = try #require(try RowFormat.FieldReader.field(2, of: person("Kim")))
    schema.entities[0].properties[0].valueIfAbsent = Schema.StoredField(name, of: person("Kim"))
    var index = Schema.Index(number: 11, entity: 1, properties: [2])
    index.state = .ready
    schema.indexes = [index]
    schema.nextNumber = 12
    store.rows[0]?[.integer(2)] = schema.bytes
    let sound = store.entries
    func indexed(_ number: Int64, _ row: [UInt8]) throws -> [UInt8] {
      let key = try IndexKey.key(of: [2], in: row, normalized: \.precomposedStringWithCanonicalMapping)
      return Entry.indexed(.person(number), by: key, 11)
    }
    let entries = try [indexed(1, person("Ann")), indexed(2, person("Zo\u{EB}")), indexed(5, person(nil))]
    store.entries = sound + entries
    #expect(try store.findings() == [])
    store.entries = sound + entries.dropLast()
    try expect("it is not in the index 11", .row, .row(.integer(5), table: 1))
    store.entries = sound + entries.dropLast() + [try indexed(5, person("Kim"))]
    #expect(Set(try store.findings().map(\.kind)) == [.entry, .row])
    var row = FieldWriter(isPartial: true)
    row.begin(2, .string)
    row.withOutput { $0.text("Kim") }
    store.rows[1]?[.integer(5)] = row.bytes
    store.entries = sound + entries.dropLast() + [try indexed(5, person("Kim"))]
    try expect("it has no key for the constraint 5", .row, .row(.integer(5), table: 1))
    store.entries.append(Entry.holder(.person(5), of: [6, 3] + Array("Kim".utf8), 5))
    #expect(try store.findings() == [])
  }

  @Test("The check reports arbitrary bytes as findings and never traps.") func random() throws {
    var random = SeededGenerator()
    print("seed \(random.seed)")
    let tables: [UInt32] = [0, OriginRow.table, ResultRow.table, OutboxRow.table]
    for _ in 0..<2000 {
      let store = RemoteStructureTests().store
      let table = try #require(tables.randomElement(using: &random))
      let keys = (store.rows[table] ?? [:]).keys.filter { table > 0 || $0 == .integer(5) }.sorted()
      let key = try #require(keys.randomElement(using: &random))
      var bytes = try #require(store.rows[table]?[key])
      let place = try #require(bytes.indices.randomElement(using: &random))
      if Bool.random(using: &random) {
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      } else {
        bytes.removeSubrange(place...)
      }
      store.rows[table]?[key] = bytes
      _ = try store.findings()
    }
  }

  /// Expects one finding that begins with these words.
  private func expect(
    _ words: String, _ kind: StructureFinding.Kind, _ place: StructureFinding.Place? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let findings = try store.findings()
    #expect(findings.map(\.kind) == [kind], "\(findings)", sourceLocation: location)
    #expect(findings.first?.words.hasPrefix(words) == true, "\(findings)", sourceLocation: location)
    if let place { #expect(findings.first?.place == place, "\(findings)", sourceLocation: location) }
  }
}
