#if PostgreSQL
  import CoreData
  import Foundation
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("Columns that other programs can read")
  struct ColumnTests {
    @Test("Each attribute and to-one relationship has a column of its type.")
    func types() throws {
      let server = try ModelServer()
      defer { server.remove() }
      let moment = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
      let uuid = try #require(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF"))
      try server.withContext(Self.model) { context in
        let thing = context.insert(
          "Thing",
          [
            "int": -5, "big": Int64.max, "real": 1.5, "small": Float(0.25), "money": NSDecimalNumber(string: "12.30"),
            "text": "Ångström", "flag": true, "moment": moment, "data": Data([0, 1, 255]), "id": uuid,
            "link": URL(string: "https://example.com/a") as Any,
          ])
        let box = context.insert("Box", ["name": "box"])
        thing.setValue(box, forKey: "box")
        box.setValue(NSOrderedSet(array: [thing]), forKey: "sorted")
        try context.save()
      }
      let row = try server.row(
        """
        SELECT t.int, t.big, t.real, t.small, t.money::text, t.text, t.flag, t.moment, t.data, t.id, t.link,
          t."text.nfc", t."text.folded", b.name, v.moment = '2023-03-08 20:26:40.25+00', v.entity
        FROM "Thing" t JOIN "Box" b ON b.cairn_reference = t.box
          JOIN "Thing.all" v ON v.reference = t.cairn_reference JOIN "Box.sorted" s ON s.member = t.cairn_reference
        WHERE s.owner = b.cairn_reference
        """)
      #expect(row.count == 1)
      #expect(row.integer(0, 0) == -5)
      #expect(row.integer(0, 1) == .max)
      #expect(row.bytes(0, 2) == 1.5.bitPattern.bigEndianBytes)
      #expect(row.bytes(0, 3) == 0.25.bitPattern.bigEndianBytes)
      #expect(row.text(0, 4) == "12.3")
      #expect(row.text(0, 5) == "Ångström")
      #expect(row.bool(0, 6))
      #expect(row.bytes(0, 7) == moment.timeIntervalSinceReferenceDate.bitPattern.bigEndianBytes)
      #expect(row.bytes(0, 8) == [0, 1, 255])
      #expect(row.bytes(0, 9) == Array(UInt128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF).bigEndianBytes))
      #expect(row.text(0, 10) == "https://example.com/a")
      #expect(row.isNull(0, 11))
      #expect(row.text(0, 12) == "angstrom")
      #expect(row.text(0, 13) == "box")
      #expect(row.bool(0, 14))
      #expect(row.text(0, 15) == "Thing")
      #expect(try server.differences() == [])
    }

    @Test("Null is null, and an object that changes changes its columns.")
    func changes() throws {
      let server = try ModelServer()
      defer { server.remove() }
      try server.withContext(Self.model) { context in
        let thing = context.insert("Thing", ["text": "a", "int": 1])
        let other = context.insert("Thing", ["text": "b"])
        try context.save()
        thing.setValue(nil, forKey: "text")
        thing.setValue(2, forKey: "int")
        context.delete(other)
        try context.save()
      }
      let row = try server.row(#"SELECT text IS NULL AND money IS NULL AND box IS NULL, int FROM "Thing""#)
      #expect(row.count == 1)
      #expect(row.bool(0, 0))
      #expect(row.integer(0, 1) == 2)
      #expect(try server.differences() == [])
    }

    @Test("A text that the server cannot have stays whole in the row, and the row says so.")
    func inexact() throws {
      let server = try ModelServer()
      defer { server.remove() }
      let texts = ["a\0b", "c", String(repeating: "long ", count: 100_000)]
      try server.withContext(Self.model) { context in
        for text in texts { context.insert("Thing", ["text": text]) }
        try context.save()
      }
      try server.withContext(Self.model) { context in
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        #expect(Set(found.compactMap { $0.value(forKey: "text") as? String }) == Set(texts))
      }
      let row = try server.row(#"SELECT text FROM "Thing" WHERE cairn_inexact"#)
      #expect(row.count == 1)
      #expect(row.text(0, 0) == "a\u{FFFD}b")
      #expect(try server.differences() == [])
      // The row is as inexact as before when the column is dropped.
      let without = NSManagedObjectModel(entities: [
        NSEntityDescription("Thing", [.attribute("int", .integer16AttributeType)])
      ])
      try server.withContext(without) { _ in }
      #expect(try server.differences() == [])
    }

    @Test(
      "Names that the server would take for something else are names.",
      arguments: [
        "cairn_rows", "select", "a\"b", "O'Neil; DROP TABLE cairn_rows; --", "Größe",
        String(repeating: "x", count: 200),
      ])
    func names(_ name: String) throws {
      let server = try ModelServer()
      defer { server.remove() }
      let model = NSManagedObjectModel(entities: [
        NSEntityDescription(
          name, [.attribute("ctid", .integer64AttributeType), .attribute(name, .stringAttributeType)]),
        NSEntityDescription(name + "2", [.attribute("cairn_bytes", .integer64AttributeType)]),
      ])
      try server.withContext(model) { context in
        context.insert(name, ["ctid": 1, name: "'; --"])
        context.insert(name + "2", ["cairn_bytes": 2])
        try context.save()
      }
      try server.withContext(model) { context in
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
        #expect(found.map { $0.value(forKey: name) as? String } == ["'; --"])
      }
      #expect(try server.differences() == [])
    }

    @Test("Views whose names would be the same have different names.")
    func views() throws {
      let server = try ModelServer()
      defer { server.remove() }
      let (one, other) = (NSEntityDescription("One", []), NSEntityDescription("Other", []))
      relate(one, "all", toMany: true, other, "one", toMany: false)
      try server.withContext(NSManagedObjectModel(entities: [one, other])) { context in
        context.insert("Other", [:]).setValue(context.insert("One", [:]), forKey: "one")
        try context.save()
      }
      let names = try server.row("SELECT viewname::text FROM pg_views WHERE schemaname = current_schema() ORDER BY 1")
      #expect(names.count == 3)
      #expect((0..<names.count).map { names.text($0, 0) }.prefix(1) == ["One.all"])
      #expect(try server.row(#"SELECT entity FROM "One.all""#).text(0, 0) == "One")
    }

    @Test("A column that somebody has changed is found, and is not believed.")
    func changedColumns() throws {
      let server = try ModelServer()
      defer { server.remove() }
      try server.withContext(Self.model) { context in
        let thing = context.insert("Thing", ["int": 1, "text": "a"])
        context.insert("Box", ["name": "b"]).setValue(NSOrderedSet(array: [thing]), forKey: "sorted")
        try context.save()
      }
      #expect(try server.differences() == [])
      _ = try server.row(#"UPDATE "Thing" SET int = 7"#)
      #expect(try server.differences() == ["Thing 1: the column int has not what the row has"])
      try server.withContext(Self.model) { context in
        let thing = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
        #expect(thing.value(forKey: "int") as? Int == 1)
      }
      _ = try server.row("UPDATE cairn_members SET owner = 99")
      let differences = try server.differences()
      #expect(differences.count == 3)
      #expect(differences.last?.contains("cairn_members") == true)
      _ = try server.row(#"ALTER TABLE "Thing" DROP COLUMN int CASCADE"#)
      #expect(try server.differences().first?.hasPrefix("Thing: ") == true)
    }

    static var model: NSManagedObjectModel {
      let thing = NSEntityDescription(
        "Thing",
        [
          .attribute("int", .integer16AttributeType), .attribute("big", .integer64AttributeType),
          .attribute("real", .doubleAttributeType), .attribute("small", .floatAttributeType),
          .attribute("money", .decimalAttributeType), .attribute("text", .stringAttributeType),
          .attribute("flag", .booleanAttributeType), .attribute("moment", .dateAttributeType),
          .attribute("data", .binaryDataAttributeType), .attribute("id", .UUIDAttributeType),
          .attribute("link", .URIAttributeType),
        ])
      let box = NSEntityDescription("Box", [.attribute("name", .stringAttributeType)])
      relate(thing, "box", toMany: false, box, "things", toMany: true)
      relate(thing, "sorts", toMany: true, box, "sorted", toMany: true, isOrdered: true)
      return NSManagedObjectModel(entities: [thing, box])
    }
  }
#endif
