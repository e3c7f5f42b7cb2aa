import Testing

@testable import OpenCoreData

/// The classes that entities name.
@Suite struct ManagedObjectClassTests {
  @Test func aModuleIsRecordedAndKept() throws {
    let url = Fixtures.models.appending(path: "Library.xcdatamodeld")
    let model = try NSManagedObjectModel(modelFileAt: url)
    #expect(model.entities.allSatisfy { $0.moduleName == "OpenCoreDataTests" })
    let other = try NSManagedObjectModel(modelFileAt: url, fileID: "Other/")
    #expect(copied(other).entities.allSatisfy { $0.moduleName == "Other" })
    let merged = try #require(NSManagedObjectModel(byMerging: [other, Zoo().model]))
    #expect(merged.entitiesByName["Author"]?.moduleName == "Other")
    #expect(merged.entitiesByName["Dog"]?.moduleName == "OpenCoreDataTests")
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
    let model = NSManagedObjectModel(fileID: "Library/Model.swift")
    let plain = entity("Plain", class: "Plain")
    model.entities = [plain, entity("Missing", class: "Missing"), entity("Far", class: "Away.Far")]
    model.setEntities([plain], forConfigurationName: "plain")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
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

  @Test("The module of a container's subclass is one of those in which classes are looked up.")
  func subclassedContainer() throws {
    let model = NSManagedObjectModel(fileID: "Library/Model.swift")
    model.entities = [entity("Plain", class: "Plain")]
    let container = OwnContainer(name: "Plain", managedObjectModel: model)
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
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

private final class OwnContainer: NSPersistentContainer, @unchecked Sendable {
  override init(name: String, managedObjectModel model: NSManagedObjectModel) {
    super.init(name: name, managedObjectModel: model)
  }
}

final class Plain: NSManagedObject {}
