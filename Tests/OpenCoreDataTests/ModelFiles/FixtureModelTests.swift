import Foundation
import Testing

@testable import OpenCoreData

@Suite("Models in Xcode's format")
struct FixtureModelTests {
  /// Expects the model that was read to equal the one that was made, down to the version hashes; reports what differs.
  private func expect(_ read: NSManagedObjectModel, is made: NSManagedObjectModel) {
    for (name, entity) in made.entitiesByName {
      for property in entity.ownProperties {
        #expect(read.entitiesByName[name]?.propertiesByName[property.name] == property, "\(name).\(property.name)")
      }
      #expect(read.entitiesByName[name] == entity, "\(name)")
    }
    #expect(read == made)
    #expect(read.versionChecksum == made.versionChecksum)
    #expect(read.entities.map(\.name) == made.entities.map(\.name))
  }

  @Test("The current version of a model by today's Xcode equals the model made in code.")
  func library() throws {
    expect(try Fixtures.model("Library.xcdatamodeld"), is: LibraryModel().model)
    let first = try Fixtures.model("Library.xcdatamodeld/Library.xcdatamodel")
    #expect(first.versionIdentifiers == ["1"] && first.entities.count == 1)
  }

  @Test("Indexed attributes and compound indexes in a model by Xcode of 2016 become fetch indexes.")
  func fleet() throws {
    let ship = entity("Ship", class: "Fleet.Ship")
    let sailor = entity("Sailor", class: "Fleet.Sailor")
    let callSign = attribute("callSign", .string, isOptional: false)
    let launched = attribute("launched", .date)
    let latitude = attribute("latitude", .double, defaultValue: 0)
    let longitude = attribute("longitude", .double, defaultValue: 0)
    let crew = relationship("crew", to: sailor) {
      $0.isOrdered = true
      $0.deleteRule = .cascadeDeleteRule
    }
    let home = relationship("ship", to: ship, isToMany: false) { $0.minCount = 1 }
    connect(crew, home)
    ship.properties = [
      callSign, attribute("draught", .float, defaultValue: 0), latitude, launched, longitude,
      attribute("tonnage", .integer64, defaultValue: 0), crew,
    ]
    sailor.properties = [attribute("name", .string, isOptional: false), home]
    ship.indexes = [
      index("byCallSign", [callSign]), index("byLaunched", [launched]),
      index("byLatitudeLongitude", [latitude, longitude]),
    ]
    ship.uniquenessConstraints = [["callSign"]]
    sailor.indexes = [index("byPlace", [home], .rTree)]
    let everyone = request(sailor, "TRUEPREDICATE")
    everyone.returnsObjectsAsFaults = false
    everyone.includesSubentities = false
    everyone.includesPropertyValues = false
    everyone.includesPendingChanges = false
    everyone.returnsDistinctResults = true
    everyone.resultType = .dictionaryResultType
    let model = NSManagedObjectModel()
    model.entities = [ship, sailor]
    model.setFetchRequestTemplate(everyone, forName: "Everyone")
    expect(try Fixtures.model("Fleet.xcdatamodel"), is: model)
  }

  @Test("In a model by Xcode of 2012 a relationship may be its own inverse, and an entity may have no class.")
  func diary() throws {
    let entry = entity("Entry", class: "DIEntry")
    let tag = entity("Tag", class: "NSManagedObject")
    let followUp = relationship("followUp", to: entry, isToMany: false) { $0.minCount = 1 }
    followUp.inverseRelationship = followUp
    let tags = relationship("tags", to: tag)
    let entries = relationship("entries", to: entry)
    connect(tags, entries)
    entry.properties = [
      attribute(
        "date", .date, isOptional: false, defaultValue: Date(timeIntervalSinceReferenceDate: 362_703_600)),
      attribute("mood", .integer16, defaultValue: 0) {
        $0.setValidation(
          [NSPredicate(format: "SELF >= -3"), NSPredicate(format: "SELF <= 3")], warnings: [1620, 1610])
      },
      attribute("photo", .transformable), attribute("starred", .boolean, defaultValue: true),
      attribute("text", .string), followUp, tags,
    ]
    tag.properties = [attribute("name", .string), entries]
    let model = NSManagedObjectModel()
    model.entities = [entry, tag]
    model.versionIdentifiers = [""]
    expect(try Fixtures.model("Diary.xcdatamodeld"), is: model)
  }

  @Test("Copies and merged models of models from files are equal to them.")
  func copies() throws {
    let names = ["Library.xcdatamodeld", "Fleet.xcdatamodel", "Diary.xcdatamodeld"]
    let models = try names.map(Fixtures.model)
    for model in models { #expect(copied(model) == model) }
    let merged = try #require(NSManagedObjectModel(byMerging: models))
    #expect(merged.entities.count == models.reduce(0) { $0 + $1.entities.count })
    #expect(merged.entitiesByName["Book"] == models[0].entitiesByName["Book"])
  }

  @Test("The predicates of attributes in a model file validate values.")
  func validation() throws {
    let library = try Fixtures.model("Library.xcdatamodeld")
    func broken(_ entity: String, _ attribute: String, _ value: Any) throws -> [Int] {
      let attribute = try #require(library.entitiesByName[entity]?.attributesByName[attribute])
      return zip(attribute.validationPredicates, attribute.validationWarnings)
        .filter { !$0.0.evaluate(with: value) }.compactMap { $0.1 as? Int }
    }
    #expect(try broken("Author", "name", "Thoreau") == [])
    #expect(try broken("Author", "name", "") == [1670, 1680])
    #expect(try broken("Author", "name", String(repeating: "x", count: 81)) == [1660])
    #expect(try broken("Book", "pages", 0) == [1620])
    #expect(try broken("Book", "pages", 20_001) == [1610])
    #expect(try broken("Book", "price", NSDecimalNumber(string: "-0.01")) == [1620])
    #expect(try broken("Book", "published", Date.distantFuture) == [1630])
    #expect(try broken("Book", "published", Date.distantPast) == [1640])
    #expect(try broken("Book", "published", Date(timeIntervalSinceReferenceDate: 0)) == [])
  }

  @Test("A request made from a template has values for its variables.")
  func template() throws {
    let library = try Fixtures.model("Library.xcdatamodeld")
    let request = try #require(
      library.fetchRequestFromTemplate(withName: "BooksOfPrice", substitutionVariables: ["LIMIT": 10]))
    #expect(request.fetchLimit == 20)
    #expect(request.entity === library.entitiesByName["Book"])
    #expect(request.predicate?.evaluate(with: ["price": 10]) == true)
    #expect(request.predicate?.evaluate(with: ["price": 11]) == false)
    #expect(library.fetchRequestFromTemplate(withName: "none", substitutionVariables: [:]) == nil)
  }
}
