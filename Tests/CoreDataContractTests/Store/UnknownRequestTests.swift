import CoreData
import Testing

/// Apple's Core Data does not document what it does with requests of unknown kinds.
#if !canImport(Darwin)
  @Suite("Unknown requests", .anyStore)
  struct UnknownRequestTests {
    private final class Request: NSPersistentStoreRequest {
      override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }
    }

    @Test("A request of an unknown type reaches the store, and is refused with the store's error.")
    func refused() throws {
      let stack = try Stack<RecordingStore>()
      stack.work { context in
        stack.expectCalls([.other]) { #expect(thrown { try context.execute(Request()) }?.code == 134091) }
      }
    }
  }
#endif
