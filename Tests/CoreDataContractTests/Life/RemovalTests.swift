import CoreData
import Testing

@Suite("Removing a store", .anyStore)
struct RemovalTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A store is notified before its removal, and the coordinator does not have it afterwards.")
  func told() throws {
    try stack.expectCalls([.willRemove]) { try stack.coordinator.remove(stack.store) }
    #expect(stack.coordinator.persistentStores.isEmpty)
    #expect(stack.store.persistentStoreCoordinator == nil)
  }

  @Test("The objects of a removed store are no longer valid.")
  func objects() throws {
    try stack.work { context in
      let id = try context.person("Ada").objectID
      try stack.coordinator.remove(stack.store)
      #expect(thrown { try context.existingObject(with: id) } != nil)
    }
  }

  @Test("A removed store can be added again, and its objects have their former identifiers.")
  func again() throws {
    let before = stack.store.identifier(1).uriRepresentation()
    try stack.coordinator.remove(stack.store)
    let store = try stack.coordinator.add(RecordingStore.self, stack.backing)
    #expect(store.identifier(1).uriRepresentation() == before)
    #expect(try stack.work { try $0.names() } == "Ada Bob Cleo")
  }
}
