#if PostgreSQL
  import CoreData
  import Foundation
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("Tables that a migration changes")
  struct MigrationTests {
    @Test("Attributes are added, removed and renamed, and swap their names.")
    func attributes() throws {
      let server = try ModelServer()
      defer { server.remove() }
      try server.withContext(
        Self.model([
          .attribute("a", .stringAttributeType), .attribute("b", .stringAttributeType),
          .attribute("gone", .integer64AttributeType),
        ])
      ) { context in
        for number in 0..<20 { context.insert("Thing", ["a": "a\(number)", "b": "b\(number)", "gone": number]) }
        try context.save()
      }
      let after = Self.model([
        .attribute("b", .stringAttributeType, formerly: "a"), .attribute("a", .stringAttributeType, formerly: "b"),
        .attribute("new", .integer64AttributeType), .attribute("level", .integer64AttributeType, default: 7),
        .attribute("title", .stringAttributeType, default: "Été"),
      ])
      try server.withContext(after) { context in
        #expect(try server.differences() == [])
        context.insert("Thing", ["a": "x", "b": "y", "new": 1])
        try context.save()
      }
      let row = try server.row(
        #"SELECT count(*) FROM "Thing" WHERE a LIKE 'b%' AND b LIKE 'a%' AND new IS NULL AND level = 7 AND "#
          + #"title = 'Été' AND "title.folded" = 'ete'"#)
      #expect(row.integer(0, 0) == 20)
      #expect(try server.row(#"SELECT * FROM "Thing.all" WHERE new = 1"#).count == 1)
      #expect(try server.differences() == [])
    }

    @Test("An attribute that is no longer optional has its default value in the column, too.")
    func required() throws {
      let server = try ModelServer()
      defer { server.remove() }
      try server.withContext(Self.model([.attribute("text", .stringAttributeType)])) { context in
        context.insert("Thing", ["text": "kept"])
        context.insert("Thing", [:])
        try context.save()
      }
      try server.withContext(Self.model([.attribute("text", .stringAttributeType, default: "none")])) { _ in }
      #expect(try server.row(#"SELECT 1 FROM "Thing" WHERE text = 'none'"#).count == 1)
      #expect(try server.differences() == [])
      try server.withContext(Self.model([.attribute("text", .stringAttributeType)])) { context in
        let texts = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).map {
          $0.value(forKey: "text") as? String
        }
        #expect(Set(texts) == ["kept", "none"])
      }
      #expect(try server.differences() == [])
    }

    @Test("An attribute of another type gets a column of that type with the converted values.")
    func type() throws {
      let server = try ModelServer()
      defer { server.remove() }
      try server.withContext(Self.model([.attribute("value", .stringAttributeType)])) { context in
        for number in 0..<50 { context.insert("Thing", ["value": "\(number)"]) }
        try context.save()
      }
      try server.withContext(Self.model([.attribute("value", .integer64AttributeType)])) { context in
        let sum = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).reduce(0) {
          $0 + ($1.value(forKey: "value") as? Int ?? 0)
        }
        #expect(sum == 1225)
      }
      #expect(try server.row(#"SELECT sum(value)::bigint FROM "Thing""#).integer(0, 0) == 1225)
      #expect(try server.differences() == [])
    }

    @Test("Entities are renamed, added and removed with their tables, views and relationships.")
    func entities() throws {
      let server = try ModelServer()
      defer { server.remove() }
      let (old, box, gone) = (
        NSEntityDescription("Old", []), NSEntityDescription("Box", []), NSEntityDescription("Gone", [])
      )
      old.properties = [.attribute("name", .stringAttributeType)]
      old.uniquenessConstraints = [["name"]]
      relate(old, "box", toMany: false, box, "contents", toMany: true)
      relate(old, "gone", toMany: false, gone, "others", toMany: true)
      try server.withContext(NSManagedObjectModel(entities: [old, box, gone])) { context in
        let box = context.insert("Box", [:])
        let gone = context.insert("Gone", [:])
        for number in 0..<5 { context.insert("Old", ["name": "\(number)", "box": box, "gone": gone]) }
        try context.save()
      }
      #expect(try server.row("SELECT 1 FROM cairn_keys").count == 5)
      #expect(try server.row("SELECT 1 FROM cairn_members").count == 10)
      let (new, newBox, extra) = (
        NSEntityDescription("New", []), NSEntityDescription("Box", []), NSEntityDescription("Extra", [])
      )
      new.renamingIdentifier = "Old"
      new.properties = [.attribute("name", .stringAttributeType)]
      relate(new, "box", toMany: false, newBox, "contents", toMany: true)
      try server.withContext(NSManagedObjectModel(entities: [new, newBox, extra])) { context in
        let box = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).first)
        #expect((box.value(forKey: "contents") as? Set<NSManagedObject>)?.count == 5)
        context.insert("New", ["name": "1", "box": box])
        context.insert("Extra", [:])
        try context.save()
      }
      let tables = try server.row(
        "SELECT relname::text FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'v') "
          + "AND relname NOT LIKE 'cairn_%' ORDER BY 1")
      #expect(
        (0..<tables.count).map { tables.text($0, 0) } == [
          "Box", "Box.all", "Box.contents", "Extra", "Extra.all", "New", "New.all",
        ])
      #expect(try server.row("SELECT 1 FROM cairn_keys").count == 0)
      #expect(try server.row("SELECT 1 FROM cairn_members").count == 6)
      #expect(try server.differences() == [])
    }

    @Test("Objects of entities that inherit from one another are in tables of their own, and in one view.")
    func inheritance() throws {
      let server = try ModelServer()
      defer { server.remove() }
      func model(_ names: [String]) -> NSManagedObjectModel {
        let animal = NSEntityDescription("Animal", [.attribute("name", .stringAttributeType)])
        animal.isAbstract = true
        let animals = names.map { NSEntityDescription($0, [.attribute("size\($0)", .integer64AttributeType)]) }
        animal.subentities = animals
        return NSManagedObjectModel(entities: [animal] + animals)
      }
      try server.withContext(model(["Cat", "Dog"])) { context in
        context.insert("Cat", ["name": "Tom", "sizeCat": 1])
        context.insert("Dog", ["name": "Rex", "sizeDog": 2])
        try context.save()
      }
      try server.withContext(model(["Cat", "Dog", "Eel"])) { context in
        context.insert("Eel", ["name": "Ed", "sizeEel": 3])
        try context.save()
      }
      let names = try server.row(#"SELECT entity, name FROM "Animal.all" ORDER BY name"#)
      #expect(
        (0..<names.count).map { "\(names.text($0, 0)) \(names.text($0, 1))" } == ["Eel Ed", "Dog Rex", "Cat Tom"])
      #expect(try server.differences() == [])
    }

    @Test("Two processes that open a store with a new model at once migrate it once.")
    func atOnce() async throws {
      let server = try ModelServer()
      defer { server.remove() }
      try server.withContext(Self.model([.attribute("a", .stringAttributeType)])) { context in
        for _ in 0..<100 { context.insert("Thing", ["a": "x"]) }
        try context.save()
      }
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            try server.withContext(
              Self.model([.attribute("a", .stringAttributeType), .attribute("b", .integer64AttributeType, default: 3)])
            ) { context in
              context.insert("Thing", ["b": 4])
              try context.save()
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try server.row(#"SELECT sum(b)::bigint FROM "Thing""#).integer(0, 0) == 316)
      #expect(try server.differences() == [])
    }

    private static func model(_ properties: [NSPropertyDescription]) -> NSManagedObjectModel {
      NSManagedObjectModel(entities: [NSEntityDescription("Thing", properties)])
    }
  }
#endif
