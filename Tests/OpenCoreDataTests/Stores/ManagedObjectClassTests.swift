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
    #expect(merged.entitiesByName["Dog"]?.moduleName == nil)
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
