import CairnIncrementalStore
import Foundation
import Testing

@testable import OpenCoreData

@Suite("Version hashes from before counts were part of them")
struct FormerVersionHashTests {
  /// The hashes of the zoo's entities, as stores of that time recorded them.
  private static let hashes = [
    "Animal": "t6g9apVSXeTkll5yTww3sT1goxrL9ppF5/3Fc+asb84=",
    "Dog": "nwi5qfRFvPUT5UzHA8jrQdGegpGA8NuNwQ56Z7NyyPI=",
    "Keeper": "m+G5ZIEt23JrfeJ/OryQy2Z00IFdzp1cdiNFq9i09J8=",
  ].mapValues { Data(base64Encoded: $0)! }

  private static let checksum = "Wpzhbfap44lv5X+kT5WABQcTFnpkXYHoA6gZ1OaxTo4="

  private let metadata = [NSStoreModelVersionHashesKey: hashes]

  private func zoo(_ change: (Zoo) -> Void = { _ in }) -> Zoo {
    let zoo = Zoo()
    change(zoo)
    return zoo
  }

  private func fits(_ zoo: Zoo, _ hashes: [String: Data]) -> Bool {
    zoo.model.isConfiguration(
      withName: nil, compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
  }

  @Test("Former version hashes fit their model, whatever its counts are.")
  func sameModel() {
    #expect(fits(zoo(), Self.hashes))
    #expect(fits(zoo { $0.pets.maxCount = 5 }, Self.hashes))
    #expect(fits(zoo { $0.pets.minCount = 1 }, Self.hashes))
  }

  @Test("Former version hashes fit no other model.")
  func otherModel() {
    #expect(!fits(zoo { $0.pets.maxCount = 1 }, Self.hashes))
    #expect(!fits(zoo { $0.tricks.type = .integer32 }, Self.hashes))
    #expect(!fits(zoo { $0.dog.versionHashModifier = "2" }, Self.hashes))
    #expect(!fits(zoo(), Self.hashes.filter { $0.key != "Dog" }))
  }

  @Test("Former version hashes differ from present ones, which cover counts.")
  func today() {
    #expect(!fits(zoo { $0.pets.maxCount = 5 }, Zoo().model.entityVersionHashesByName))
    #expect(!fits(zoo { $0.owner.minCount = 1 }, Zoo().model.entityVersionHashesByName))
    #expect(fits(zoo(), Zoo().model.entityVersionHashesByName))
  }

  @Test("Former version hashes find the model of a store among several, and its parts.")
  func merging() throws {
    let other = zoo { $0.tricks.type = .integer32 }
    let found = try #require(
      NSManagedObjectModel(byMerging: [other.model, zoo().model], forStoreMetadata: metadata))
    #expect(found == Zoo().model)
    #expect(NSManagedObjectModel(byMerging: [other.model], forStoreMetadata: metadata) == nil)
    let part = NSManagedObjectModel()
    part.entities = [Zoo().dog]
    part.entities[0].name = "Cat"
    let hashes = Self.hashes.merging(part.entityVersionHashesByName) { $1 }
    let merged = NSManagedObjectModel(
      byMerging: [part, zoo().model], forStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
    #expect(merged?.entitiesByName.keys.sorted() == ["Animal", "Cat", "Dog", "Keeper"])
  }

  @Test("A model reference may name former version hashes and checksums.")
  func references() throws {
    #expect(
      NSManagedObjectModelReference(model: zoo().model, versionChecksum: Self.checksum).resolvedModel == Zoo().model)
    #expect(!zoo { $0.tricks.isOptional = false }.model.hasVersionChecksum(Self.checksum))
  }

  @Test("A store with former version hashes opens and keeps them, and an error names the entities that differ.")
  func store() throws {
    try Fixtures.withFolder { folder in
      CairnIncrementalStore.register()
      let url = folder.appending(path: "zoo.cairn")
      func open(_ zoo: Zoo, _ body: (NSManagedObjectContext) throws -> Void = { _ in }) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
        let store = try coordinator.addPersistentStore(type: .cairn, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
      }
      func stored() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .cairn, at: url)
      }
      try open(zoo()) { context in
        NSEntityDescription.insertNewObject(forEntityName: "Keeper", into: context).setValue("Kay", forKey: "name")
        try context.save()
      }
      #expect(errorCode { try open(zoo { $0.pets.maxCount = 5 }) } == NSPersistentStoreIncompatibleVersionHashError)

      try NSPersistentStoreCoordinator.setMetadata(
        try stored().merging(metadata) { $1 }, type: .cairn, at: url)
      try open(zoo()) { context in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Keeper")
        #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Kay"])
        NSEntityDescription.insertNewObject(forEntityName: "Keeper", into: context).setValue("Kim", forKey: "name")
        try context.save()
      }
      #expect(try stored()[NSStoreModelVersionHashesKey] as? [String: Data] == Self.hashes)
      let another = { try open(zoo { $0.keeperName.isOptional = true }) }
      #expect(errorCode(another) == NSPersistentStoreIncompatibleVersionHashError)
      #expect(errorText(another).contains("the entities that differ are Keeper"))
    }
  }
}
