import Testing

@testable import OpenCoreData

/// A manager with an initialiser of its own, which overrides that of its superclass.
final class CountingManager: NSMigrationManager, AutomaticMigrationManager {
  let count: Int

  init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel, count: Int) {
    self.count = count
    super.init(sourceModel: sourceModel, destinationModel: destinationModel)
  }

  override init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    count = 1
    super.init(sourceModel: sourceModel, destinationModel: destinationModel)
  }
}

/// A manager that leaves everything to another one.
private final class LeavingManager: NSMigrationManager {
  private let other: NSMigrationManager

  init(leavingTo other: NSMigrationManager) {
    self.other = other
    super.init(sourceModel: NSManagedObjectModel(), destinationModel: NSManagedObjectModel())
  }

  override var sourceModel: NSManagedObjectModel { other.sourceModel }
  override var destinationModel: NSManagedObjectModel { other.destinationModel }
}

private final class CountingStore: NSIncrementalStore {
  override class func migrationManagerClass() -> AnyClass { CountingManager.self }
}

private final class PlainStore: NSIncrementalStore {}

private final class MistakenStore: NSIncrementalStore {
  override class func migrationManagerClass() -> AnyClass { NSObject.self }
}

@Suite("Classes of migration managers") struct MigrationManagerClassTests {
  @Test("A subclass may have other models than its superclass, and entities are looked for in them.")
  func models() {
    let (model, mapping) = (Zoo().model, NSEntityMapping())
    (mapping.sourceEntityName, mapping.destinationEntityName) = ("Dog", "Keeper")
    let other = NSMigrationManager(sourceModel: model, destinationModel: model)
    let manager: NSMigrationManager = LeavingManager(leavingTo: other)
    #expect(manager.sourceModel === other.sourceModel && manager.destinationModel === other.destinationModel)
    #expect(manager.sourceEntity(for: mapping) === other.sourceEntity(for: mapping))
    #expect(manager.destinationEntity(for: mapping)?.name == "Keeper")
  }

  @Test("A store class names the class of the manager that migrates its stores.")
  func classes() throws {
    let model = NSManagedObjectModel()
    let counting = try CountingStore.makeMigrationManager(from: model, to: model)
    #expect((counting as? CountingManager)?.count == 1)
    #expect(type(of: try PlainStore.makeMigrationManager(from: model, to: model)) == NSMigrationManager.self)
    let error = try #require(throws: NSError.self) { try MistakenStore.makeMigrationManager(from: model, to: model) }
    #expect(error.code == NSMigrationError)
    #expect(CountingManager(sourceModel: model, destinationModel: model, count: 7).count == 7)
  }
}
