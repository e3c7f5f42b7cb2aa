import OpenCoreData
import Testing

@Suite struct ConfinementTests {
  private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Zoo().model)

  @Test("A context without a queue is called directly, on whichever thread, and runs awaited blocks at once.")
  func direct() throws {
    #expect(NSManagedObjectContextConcurrencyType(rawValue: 0) == .confinementConcurrencyType)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
    dog["name"] = "Rex"
    try context.save()
    nonisolated(unsafe) let (other, found) = (context, dog)
    let name = DispatchQueue.global().sync { unsafe other.performAndWait { unsafe found["name"] as? String } }
    #expect(name == "Rex")
  }

  @Test("A context without a queue runs no blocks later and does not merge automatically.")
  func refusals() async {
    await #expect(processExitsWith: .failure) {
      NSManagedObjectContext(concurrencyType: .confinementConcurrencyType).perform {}
    }
    await #expect(processExitsWith: .failure) {
      NSManagedObjectContext(concurrencyType: .confinementConcurrencyType).automaticallyMergesChangesFromParent = true
    }
  }
}
