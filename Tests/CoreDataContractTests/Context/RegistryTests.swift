import CoreData
import Testing

@Suite("Lifetime of objects in a context", .anyStore)
struct RegistryTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A context keeps a new object until it is saved, and then as long as somebody refers to it.")
  func weak() throws {
    let context = stack.context()
    #expect(!context.performAndWait { context.retainsRegisteredObjects })
    context.performAndWait { _ = context.make("Person", ["name": "Dan"]) }
    #expect(context.performAndWait { context.registeredObjects.count } == 1)
    try context.performAndWait { try context.save() }
    #expect(context.performAndWait { context.registeredObjects.isEmpty })
  }

  @Test("A context keeps a changed object until the change is saved.")
  func changed() throws {
    let context = stack.context()
    try context.performAndWait { try context.person("Ada")["age"] = 37 }
    #expect(context.performAndWait { context.updatedObjects.map { $0["age"] as? Int } } == [37])
    try context.performAndWait { try context.save() }
    #expect(context.performAndWait { context.registeredObjects.isEmpty })
  }

  @Test("A context keeps all objects if `retainsRegisteredObjects` is set.")
  func strong() throws {
    let context = stack.context()
    try context.performAndWait {
      context.retainsRegisteredObjects = true
      _ = try context.all("Person")
    }
    #expect(context.performAndWait { context.registeredObjects.count } == 3)
  }
}
