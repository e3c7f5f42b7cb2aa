import OpenCoreData
import Testing

/// Descriptions of stores, and containers that add them.
@Suite struct ContainerTests {
  let container = NSPersistentContainer(name: "Zoo", managedObjectModel: Zoo().model)

  @Test func descriptionsHoldOptions() {
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/a"))
    #expect(description.type == NSSQLiteStoreType)
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    #expect(!description.isReadOnly && description.timeout == 240)
    description.isReadOnly = true
    description.timeout = 1
    description.shouldMigrateStoreAutomatically = false
    description.setOption(NSNumber(value: 5), forKey: "own")
    let copy = description.copy() as? NSPersistentStoreDescription
    description.setOption(nil, forKey: "own")
    #expect(description.options["own"] == nil)
    #expect(copy?.options["own"] == NSNumber(value: 5))
    #expect(copy?.isReadOnly == true && copy?.timeout == 1 && copy?.shouldMigrateStoreAutomatically == false)
    #expect(copy?.url?.path == "/a")
  }

  @Test func theDefaultTypeIsRefusedWithAdvice() {
    #expect(container.persistentStoreDescriptions[0].url?.lastPathComponent == "Zoo.sqlite")
    container.persistentStoreDescriptions[0].url = URL(fileURLWithPath: "/nowhere/Zoo.sqlite")
    var errors: [any Error] = []
    container.loadPersistentStores { _, error in errors += error.map { [$0] } ?? [] }
    #expect(errors.map { ($0 as NSError).code } == [NSPersistentStoreInvalidTypeError])
    #expect(errors[0].localizedDescription.contains("SQLite"))
  }

  @Test func storesAreAddedInOrder() {
    let read = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    read.type = NSInMemoryStoreType
    read.isReadOnly = true
    let written = NSPersistentStoreDescription()
    written.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [read, written]
    var count = 0
    container.loadPersistentStores { _, error in count += error == nil ? 1 : 0 }
    #expect(count == 2)
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.isReadOnly) == [true, false])
    #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    #expect(container.newBackgroundContext().persistentStoreCoordinator === container.persistentStoreCoordinator)
  }

  @Test func aStoreIsAddedLater() async {
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    let isAdded = await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, error in continuation.resume(returning: error == nil) }
    }
    #expect(isAdded && container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test func workIsDoneInTheBackground() async {
    let same = await container.performBackgroundTask { [container] context in
      context.persistentStoreCoordinator === container.persistentStoreCoordinator
    }
    #expect(same)
  }

  @Test func aCoordinatorPerforms() async throws {
    let coordinator = container.persistentStoreCoordinator
    #expect(coordinator.performAndWait { coordinator.performAndWait { 1 } } == 1)
    #expect(await coordinator.perform { 2 } == 2)
    #expect(throws: CancellationError.self) { try coordinator.performAndWait { throw CancellationError() } }
    await withCheckedContinuation { continuation in coordinator.perform { continuation.resume() } }
  }
}
