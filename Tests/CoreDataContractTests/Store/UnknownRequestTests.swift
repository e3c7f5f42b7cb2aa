import CoreData
import Testing

/// Apple's Core Data does not document what it does with requests of unknown kinds.
#if !canImport(Darwin)
  @Suite("A request that the store does not know", .anyStore)
  struct UnknownRequestTests {
    private final class Request: NSPersistentStoreRequest {
      override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }
    }

    @Test("reaches it, and is refused as it says")
    func refused() throws {
      let stack = try Stack<RecordingStore>()
      stack.work { context in
        stack.expectCalls([.other]) { #expect(thrown { try context.execute(Request()) }?.code == 134091) }
      }
    }
  }
#endif
