import CoreData
import Testing

@MainActor
@Suite("The context of the main queue", .anyStore)
struct MainQueueTests {
  @Test("is there for the main actor without further ado")
  func mainActor() throws {
    let stack = try Stack<RecordingStore>()
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    #expect(context.concurrencyType == .mainQueueConcurrencyType)
    #expect(try context.names() == "Ada Bob Cleo")
    context.performAndWait { _ = context.make("Person") }
    #expect(context.insertedObjects.count == 1)
  }
}
