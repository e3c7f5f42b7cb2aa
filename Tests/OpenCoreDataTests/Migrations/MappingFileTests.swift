import CairnIncrementalStore
import OpenCoreData
import Synchronization
import Testing

/// Mapping models as Xcode keeps them, and migrations by them when a store is added.
@Suite("Files of mapping models")
struct MappingFileTests {
  private let registry: Registry

  init() throws { registry = try Registry() }

  private static var migrates: [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
  }

  private var file: URL { registry.folder.appending(path: "People.xcmappingmodel") }

  /// An object of Xcode's editor.
  private func object(
    _ type: String, _ id: String, _ attributes: [String: String], _ relationships: [String: String] = [:]
  ) -> String {
    let attributes = attributes.map { "<attribute name=\"\($0)\" type=\"string\">\($1)</attribute>" }
    let relationships = relationships.map { name, ids in
      "<relationship name=\"\(name)\" type=\"0/0\" destination=\"X\" idrefs=\"\(ids)\"></relationship>"
    }
    return "<object type=\"\(type)\" id=\"\(id)\">\((attributes + relationships).joined())</object>"
  }

  /// Writes the mapping model from the first to the second version.
  private func write(
    filter: String? = nil, firstPath: String = "name", archive: String? = nil,
    destination: String = "App/People.xcdatamodeld/People 2.xcdatamodel"
  ) throws {
    func entity(
      _ id: String, _ source: String, _ number: Int, _ attributes: String, _ relationships: String,
      _ more: [String: String] = [:]
    ) -> String {
      let own = [
        "sourcename": source, "destinationname": source, "mappingnumber": "\(number)", "mappingtypename": "Transform",
        "autogenerateexpression": "1",
      ]
      return object(
        "XDDEVENTITYMAPPING", id, own.merging(more) { $1 },
        ["attributemappings": attributes, "relationshipmappings": relationships, "mappingmodel": "z1"])
    }
    func property(_ kind: String, _ id: String, _ name: String, _ more: [String: String] = [:]) -> String {
      object("XDDEV\(kind)MAPPING", id, ["name": name].merging(more) { $1 })
    }
    let pets = filter.map { ["sourcefilterpredicatestring": $0] } ?? [:]
    let objects = [
      object(
        "XDDEVMAPPINGMODEL", "z1",
        ["sourcemodelpath": "App/People.xcdatamodeld/People.xcdatamodel", "destinationmodelpath": destination],
        ["entitymappings": "z4 z2 z3"]),
      entity("z2", "Person", 1, "z10 z11 z12", "z20 z21", ["migrationpolicyclassname": "FilePolicy"]),
      entity("z3", "Student", 2, "z10 z11 z13", "z20 z21", ["migrationpolicyclassname": "FilePolicy"]),
      entity("z4", "Pet", 3, "z14", "", pets),
      property("ATTRIBUTE", "z10", "first", ["sourcekeypath": firstPath]),
      property(
        "ATTRIBUTE", "z11", "age",
        ["autogenerateexpression": "0"].merging(archive.map { ["valueexpressiondata": $0] } ?? [:]) { $1 }),
      property("ATTRIBUTE", "z12", "photo"), property("ATTRIBUTE", "z13", "grade"),
      property("ATTRIBUTE", "z14", "name"), property("RELATIONSHIP", "z20", "pets", ["sourcemappingname": "PetToPet"]),
      property(
        "RELATIONSHIP", "z21", "friends", ["sourcekeypath": "friends"]),
    ]
    try Registry.write(
      "<?xml version=\"1.0\"?><database><databaseInfo><version>134481920</version></databaseInfo>"
        + objects.joined(separator: "\n") + "</database>", to: file.appending(path: "xcmapping.xml"))
  }

  @Test("The file of a mapping model has entities, key paths, mappings of relationships, filters and policies.")
  func contents() throws {
    try write(filter: "name != 'Rex'")
    let model = try NSMappingModel(mappingModelFileAt: file)
    #expect(model.entityMappings.map(\.name) == ["PersonToPerson", "StudentToStudent", "PetToPet"])
    let person = try #require(model.entityMappingsByName["PersonToPerson"])
    #expect(person.entityMigrationPolicyClassName == "FilePolicy" && person.mappingType == .customEntityMappingType)
    #expect(person.sourceEntityVersionHash == registry.first.entityVersionHashesByName["Person"])
    #expect(person.destinationEntityVersionHash == registry.second.entityVersionHashesByName["Person"])
    #expect(person.attributeMappings?.map(\.name) == ["first", "age", "photo"])
    // There is a text of the same name in the first version, which the policy converts.
    #expect(
      person.attributeMappings?.map { $0.valueExpression?.description } == [
        "$source.name", "$source.age", "$source.photo",
      ])
    #expect(
      person.relationshipMappings?.first?.valueExpression?.description
        == "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"PetToPet\", $source.pets)"
    )
    let pet = try #require(model.entityMappingsByName["PetToPet"])
    #expect(pet.mappingType == .copyEntityMappingType || pet.mappingType == .transformEntityMappingType)
    #expect(
      pet.sourceExpression?.description
        == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Pet\", \"name != 'Rex'\"), $manager.sourceContext, NO)"
    )
    #expect(NSMappingModel(contentsOf: file)?.entityMappings.count == 3)
    #expect(NSMappingModel(contentsOf: nil) == nil)
  }

  @Test("A file that cannot be read, names a model that is missing, or has an archived expression is refused.")
  func refusals() throws {
    func reason() throws -> String {
      try #require(throws: ModelFileError.self) { try NSMappingModel(mappingModelFileAt: file) }.reason
    }
    #expect(try reason() == "there is no mapping model that can be read")
    try Registry.write("bplist00", to: file.appending(path: "xcmapping.xml"))
    #expect(try reason().hasPrefix("this is a compiled mapping model"))
    try Registry.write("<database></database>", to: file.appending(path: "xcmapping.xml"))
    #expect(try reason() == "there is no mapping model in this file")
    try write(destination: "Other.xcdatamodeld/Other 7.xcdatamodel")
    #expect(
      try reason() == "the model Other.xcdatamodeld/Other 7.xcdatamodel is in none of the folders around this file")
    try write(filter: "name ==")
    #expect(try reason().hasPrefix("the filter \"name ==\" is not understood"))
    try write(firstPath: "owner.name")
    #expect(try reason() == "Person has no owner.name")
    try write(archive: "YnBsaXN0")
    #expect(try reason().hasPrefix("age has an expression of its own, which Xcode has archived"))
    #expect(NSMappingModel(contentsOf: file) == nil)
  }

  @Test("A store that is added is migrated by the mapping model beside its model, in its place, and only once.")
  func automatic() throws {
    let ada = try registry.fill()
    try write()
    #expect(code { try registry.people(at: registry.source) } == 134100)
    let expected = [
      "Person Ada - 36 Rex+Tom Bob Stone -", "Student Bob Stone - 7  Ada -", "Person Eve - 0   -",
    ]
    #expect(try registry.people(at: registry.source, Self.migrates) == expected)
    #expect(try registry.people(at: registry.source) == expected)
    #expect(
      try registry.work(registry.second) { context in
        context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: ada)
      } == nil)
    #expect(try others() == [])
    try registry.check(registry.source)
  }

  /// The names of what is beside the store.
  private func others() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: registry.folder.path)
      .filter { $0 != "old store" && !$0.contains(".xc") }
  }

  @Test("Nothing is migrated for a store that is only read, and a store without mapping model migrates itself.")
  func withoutMigration() throws {
    try registry.fill()
    try write()
    let readOnly = Self.migrates.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
    #expect(code { try registry.people(at: registry.source, readOnly) } == 134100)
    try FileManager.default.removeItem(at: file)
    #expect(code { try registry.people(at: registry.source, Self.migrates) } == 134190)
    let onlyByFile: [AnyHashable: Any] = [NSMigratePersistentStoresAutomaticallyOption: true]
    #expect(code { try registry.people(at: registry.source, onlyByFile) } == 134140)
    try registry.expectUnchanged()
  }

  @Test("What an ended process has left of a migration is cleared away, and the store is brought back.")
  func interrupted() throws {
    try registry.fill()
    try write()
    let (former, copy) = (
      registry.folder.appending(path: ".old store.former"), registry.folder.appending(path: ".old store.migrating 1")
    )
    // Ended while it made the copy.
    try Registry.write("half", to: copy.appending(path: "1.segment"))
    #expect(try registry.people(at: registry.source, Self.migrates).count == 3)
    #expect(try others() == [])
    // Ended between the two renames.
    let again = try Registry()
    try again.fill()
    try FileManager.default.moveItem(at: again.source, to: former)
    try FileManager.default.moveItem(at: registry.source, to: copy)
    #expect(try registry.people(at: registry.source, Self.migrates).count == 3)
    #expect(try others() == [])
    // The same, and the store is opened without a migration.
    try again.fill()
    try FileManager.default.moveItem(at: again.source, to: former)
    try FileManager.default.removeItem(at: registry.source)
    #expect(code { try registry.people(at: registry.source) } == 134100)
    #expect(try registry.people(at: registry.source, Self.migrates).count == 3)
    // Ended before it removed the former store.
    try again.fill()
    try FileManager.default.moveItem(at: again.source, to: former)
    #expect(try registry.people(at: registry.source, Self.migrates).count == 3)
    #expect(try others() == [])
  }

  @Test("Of several threads that add a store at once, one migrates it, and all get it.")
  func threads() throws {
    try registry.fill()
    try write()
    let counts = Mutex<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { [registry] _ in
      let count = (try? registry.people(at: registry.source, Self.migrates).count) ?? -1
      counts.withLock { $0.append(count) }
    }
    #expect(counts.withLock { $0 } == [3, 3, 3, 3])
    #expect(try others() == [])
  }

  @Test("A store that others use, or change while it is migrated, stays as it is.")
  func inUse() throws {
    try registry.fill()
    try write()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: registry.first)
    let store = try coordinator.addPersistentStore(type: .cairn, at: registry.source, options: registry.options())
    #expect(code { try registry.people(at: registry.source, Self.migrates) } == 134080)
    try coordinator.remove(store)
    try registry.expectUnchanged()
    FilePolicy.interruptions.withLock {
      $0[registry.source] = { [registry] in
        try registry.work(registry.first) { (context) throws in
          let eve = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            .first { $0.value(forKey: "name") as? String == "Eve" }
          eve?.setValue("12", forKey: "age")
          try context.save()
        }
      }
    }
    let failure = error { _ = try registry.people(at: registry.source, Self.migrates) }
    #expect(failure?.code == 134070 && failure?.localizedDescription.contains("while it was migrated") == true)
    try registry.expectUnchanged()
    #expect(try registry.people(at: registry.source, Self.migrates).last == "Person Eve - 12   -")
  }
}
