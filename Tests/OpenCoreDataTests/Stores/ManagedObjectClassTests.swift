import Foundation
import Testing

@testable import OpenCoreData

/// The classes that entities name.
@Suite struct ManagedObjectClassTests {
  @Test func aModuleIsRecordedAndKept() throws {
    let url = Fixtures.models.appending(path: "Library.xcdatamodeld")
    let model = try NSManagedObjectModel(modelFileAt: url)
    #expect(model.entities.allSatisfy { $0.modules == ["OpenCoreDataTests"] })
    let other = try NSManagedObjectModel(modelFileAt: url, fileID: "Other/")
    #expect(copied(other).entities.allSatisfy { $0.modules == ["Other"] })
    let merged = try #require(NSManagedObjectModel(byMerging: [other, Zoo().model]))
    #expect(merged.entitiesByName["Author"]?.modules == ["Other"])
    #expect(merged.entitiesByName["Dog"]?.modules == ["OpenCoreDataTests"])
  }

  @Test("A class name without a module is looked up in the module that makes the model, not by the program's name.")
  func madeInCode() throws {
    let model = NSManagedObjectModel()
    model.entities = [entity("Plain", class: "Plain")]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(model.entitiesByName["Plain"]?.managedObjectClass == Plain.self)
  }

  @Test("If another module makes the model, the class is looked up in the module that adds the store, too.")
  func madeElsewhere() throws {
    let (model, plain) = elsewhere()
    model.entities += [
      entity("Missing", class: "Missing", fileID: libraryFile), entity("Far", class: "Away.Far", fileID: libraryFile),
    ]
    model.setEntities([plain], forConfigurationName: "plain")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model, fileID: libraryFile)
    #expect(plain.managedObjectClass == nil)
    func add(_ configuration: String?) throws {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: configuration, at: nil)
    }
    try add("plain")
    #expect(plain.managedObjectClass == Plain.self)
    let text = errorText { try add(nil) }
    #expect(text.contains("Missing of the entity Missing, in the module Library or OpenCoreDataTests"))
    #expect(text.contains("Away.Far of the entity Far") && text.contains("NSStringFromClass"))
  }

  @Test("The modules that make the entity and the coordinator are among those in which a class is looked up.")
  func entityAndCoordinator() {
    let model = NSManagedObjectModel(fileID: libraryFile)
    model.entities = [entity("Plain", class: "Plain")]
    #expect(model.entities[0].modules == ["OpenCoreDataTests", "Library"])
    #expect(copied(model).entities[0].modules == ["OpenCoreDataTests", "Library"])
    #expect(model.entities[0].managedObjectClass == Plain.self)
    let (other, plain) = elsewhere()
    #expect(plain.managedObjectClass == nil)
    _ = NSPersistentStoreCoordinator(managedObjectModel: other)
    #expect(plain.managedObjectClass == Plain.self)
  }

  @Test("The module of a container's subclass is one of those in which classes are looked up.")
  func subclassedContainer() {
    let container = OwnContainer(name: "Plain", managedObjectModel: elsewhere().model)
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test("The module that describes a container's store is one of those in which classes are looked up.")
  func describedStore() throws {
    let undescribed = NSPersistentContainer(name: "Plain", managedObjectModel: elsewhere().model)
    undescribed.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    undescribed.loadPersistentStores { _, error in
      #expect(error?.localizedDescription.contains("in the module Library.") == true)
    }
    let url = URL(filePath: "/nowhere/plain")
    for description in [NSPersistentStoreDescription(), NSPersistentStoreDescription(url: url)] {
      description.type = NSInMemoryStoreType
      let container = NSPersistentContainer(name: "Plain", managedObjectModel: elsewhere().model)
      container.persistentStoreDescriptions = [description]
      container.loadPersistentStores { _, error in #expect(error == nil) }
      #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }
  }

  @Test func theClassIsTheSameBeforeAndInUse() {
    let model = NSManagedObjectModel()
    let plain = entity("Plain", class: "NSManagedObject")
    let missing = entity("Missing", class: "Nowhere")
    model.entities = [plain, missing]
    #expect(plain.managedObjectClass == OpenCoreData.NSManagedObject.self)
    _ = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(plain.managedObjectClass == OpenCoreData.NSManagedObject.self)
    #expect(missing.managedObjectClass == nil)
  }
}

private let libraryFile = "Library/Model.swift"

/// A model of another module with an entity whose class is in this one.
private func elsewhere() -> (model: NSManagedObjectModel, plain: NSEntityDescription) {
  let plain = entity("Plain", class: "Plain", fileID: libraryFile)
  let model = NSManagedObjectModel(fileID: libraryFile)
  model.entities = [plain]
  return (model, plain)
}

private final class OwnContainer: NSPersistentContainer, @unchecked Sendable {
  override init(name: String, managedObjectModel model: NSManagedObjectModel) {
    super.init(name: name, managedObjectModel: model)
  }
}

final class Plain: NSManagedObject {}
