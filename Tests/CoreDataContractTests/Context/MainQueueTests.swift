import CoreData
import Testing

@MainActor
@Suite("The context of the main queue", .anyStore)
struct MainQueueTests {
  @Test("The main actor can use a context of the main queue directly.")
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
