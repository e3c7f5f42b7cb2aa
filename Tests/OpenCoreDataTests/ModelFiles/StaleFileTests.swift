import CairnIncrementalStore
import Foundation
import Testing

@testable import OpenCoreData

@Suite("Model files with outdated content")
struct StaleFileTests {
  private let attic: NSManagedObjectModel

  init() throws { attic = try Fixtures.model("Attic.xcdatamodeld") }

  private func entity(_ name: String) throws -> NSEntityDescription { try #require(attic.entitiesByName[name]) }

  private func attribute(_ name: String) throws -> NSAttributeDescription {
    try #require(try entity("Box").attributesByName[name])
  }

  private func relationship(_ entity: String, _ name: String) throws -> NSRelationshipDescription {
    try #require(try self.entity(entity).relationshipsByName[name])
  }

  @Test("A model file with outdated content is read, with a warning and a line for every assumption.")
  func warnings() throws {
    #expect(try Fixtures.atticWarnings() == attic.fileWarnings.map { "\($0)\n" }.joined())
  }

  @Test("A default of another type is converted to the attribute's present type, or ignored.")
  func defaultValues() throws {
    let numbers = ["count": 0, "shelf": 1, "rows": 2, "weight": 0, "isFull": 0, "isOld": 1, "floor": 0]
    for (name, number) in numbers { #expect(try attribute(name).defaultValue as? NSNumber == NSNumber(value: number)) }
    for name in ["places", "volume", "price", "isOdd", "key", "packed", "photo"] {
      #expect(try attribute(name).defaultValue == nil, "\(name)")
    }
    #expect(try attribute("label").defaultValue as? String == "0.0")
  }

  @Test("Bounds that an attribute's type cannot have are ignored.")
  func bounds() throws {
    for name in ["label", "floor", "opened"] { #expect(try attribute(name).validationPredicates.isEmpty, "\(name)") }
    let note = try attribute("note").validationPredicates
    #expect(["ab", "abc"].map { text in note.allSatisfy { $0.evaluate(with: text) } } == [false, true])
    #expect(note.count == 2)
    #expect(try !attribute("label").isOptional)
  }

  @Test("Unintelligible derivations derive nothing, and the last of equal keys counts.")
  func derivationsAndNotes() throws {
    let derived = try ["sum", "twice"].map { try #require(try attribute($0) as? NSDerivedAttributeDescription) }
    #expect(derived.allSatisfy { $0.derivationExpression == nil })
    #expect(derived[1].userInfo as? [String: String] == ["k": "3"])
  }

  @Test("The to-many flag of a relationship takes precedence over its counts.")
  func counts() throws {
    func counts(_ name: String) throws -> [Int] {
      let relationship = try relationship("Box", name)
      return [relationship.minCount, relationship.maxCount]
    }
    #expect(try counts("neighbour") == [1, 1])
    #expect(try counts("below") == [0, 0])
    #expect(try counts("above") == [0, 2])
    #expect(try relationship("Box", "things").deleteRule == .nullifyDeleteRule)
  }

  @Test("An inverse that one side names is used if the other names none.")
  func inverses() throws {
    #expect(try relationship("Box", "things").inverseRelationship === relationship("Thing", "box"))
    #expect(try relationship("Thing", "box").inverseRelationship === relationship("Box", "things"))
    #expect(try relationship("Thing", "lid").inverseRelationship === relationship("Lid", "things"))
    #expect(try relationship("Lid", "things").inverseRelationship === relationship("Thing", "lid"))
    for (entity, name) in [
      ("Box", "lid"), ("Lid", "owner"), ("Lid", "handle"), ("Tin", "things"), ("Lidlet", "sameThings"),
    ] {
      #expect(try relationship(entity, name).inverseRelationship == nil, "\(entity).\(name)")
    }
  }

  @Test("Inverses that name each other in a ring are ignored.")
  func ring() throws {
    let ring = [("a", "b"), ("b", "c"), ("c", "a")].map { name, inverse in
      #"<relationship name="\#(name)" maxCount="1" destinationEntity="A" inverseName="\#(inverse)"/>"#
    }
    let lines = ["<model><entity name=\"A\">"] + ring + ["</entity></model>"]
    let model = try Fixtures.read(lines.joined(separator: "\n"))
    #expect(model.fileWarnings.map(\.line) == [2, 3, 4])
    let relationships = try #require(model.entitiesByName["A"]?.relationshipsByName.values)
    #expect(relationships.count == 3)
    #expect(relationships.compactMap(\.inverseRelationship).isEmpty)
  }

  @Test("Indexes, constraints, requests and members that name missing things are omitted.")
  func leftOut() throws {
    let box = try entity("Box")
    #expect(box.indexes.map(\.name) == ["byCount"])
    #expect(box.indexes[0].elements.map(\.isAscending) == [true])
    #expect(box.indexes[0].elements.map(\.collationType) == [.binary])
    #expect(box.uniquenessConstraintNames == [["key"]])
    #expect(attic.configurations == ["Cloud"])
    #expect(attic.entities(forConfigurationName: "Cloud") == [box])
    #expect(attic.fetchRequestTemplatesByName.keys.sorted() == ["Full"])
    let full = try #require(attic.fetchRequestTemplate(forName: "Full"))
    #expect(full.entity == box && full.fetchLimit == 0 && !full.returnsDistinctResults)
  }

  @Test("Copies and merged models keep the warnings, and a sound model has none.")
  func carried() throws {
    #expect(copied(attic).fileWarnings == attic.fileWarnings)
    let others = try ["Library.xcdatamodeld", "Fleet.xcdatamodel", "Diary.xcdatamodeld"].map(Fixtures.model)
    #expect(others.flatMap(\.fileWarnings).isEmpty)
    let merged = try #require(NSManagedObjectModel(byMerging: [others[0], attic]))
    #expect(merged.fileWarnings == attic.fileWarnings)
    #expect(Zoo().model.fileWarnings.isEmpty)
  }

  @Test("A model file with outdated content gives a model that stores and objects can use.")
  func use() throws {
    for entity in attic.entities { entity.managedObjectClassName = "NSManagedObject" }
    try Fixtures.withFolder { folder in
      CairnIncrementalStore.register()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: attic)
      try coordinator.addPersistentStore(type: .cairn, at: folder.appending(path: "attic.cairn"))
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
        let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        thing.setValue(box, forKey: "box")
        try context.save()
        context.reset()
        let found = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).first)
        #expect((found.value(forKey: "things") as? NSSet)?.count == 1)
        #expect(found.value(forKey: "shelf") as? Int == 1)
        #expect(found.value(forKey: "sum") == nil)
      }
    }
  }

  @Test("Numbers in other notations are read, and texts that are no numbers are ignored.")
  func words() throws {
    func value(_ type: String, _ text: String) throws -> Any? {
      let attribute = #"<attribute name="a" attributeType="\#(type)" defaultValueString="\#(text)"/>"#
      let model = try Fixtures.read("<model><entity name=\"A\">", attribute, "</entity></model>")
      #expect(model.fileWarnings.map(\.line) == [2])
      return model.entitiesByName["A"]?.attributesByName["a"]?.defaultValue
    }
    for type in ["Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float"] {
      #expect(try value(type, "true") as? NSNumber == 1)
      #expect(try value(type, "No") as? NSNumber == 0)
      for text in ["nan", "-inf", "1e400", "0,5", "ten", " 1", "(null)"] { #expect(try value(type, text) == nil) }
    }
    for (type, bits) in [("Integer 16", 16), ("Integer 32", 32), ("Integer 64", 64)] {
      #expect(try value(type, "-2.9") as? NSNumber == -2)
      #expect(try value(type, "\(Decimal(sign: .plus, exponent: 0, significand: pow(2, bits - 1)))") == nil)
    }
    #expect(try value("Boolean", "2") as? NSNumber == true)
    #expect(try value("Boolean", "0.00") as? NSNumber == false)
    for text in ["nan", "maybe", "0x"] { #expect(try value("Boolean", text) == nil) }
    for type in ["Binary", "Transformable", "Undefined", "UUID", "ObjectID"] { #expect(try value(type, "0") == nil) }
  }
}
