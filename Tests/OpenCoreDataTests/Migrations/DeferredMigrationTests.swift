import CairnIncrementalStore
import IncrementalStore
import OpenCoreData
import Testing

/// The work that migrations leave for later.
@Suite("Deferred work of migrations")
struct DeferredMigrationTests {
  private static let text = "<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>"

  @Test("With the option, what the model no longer has is removed and indexes are built when the coordinator is asked.")
  func deferring() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "deferred \(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    CairnIncrementalStore.register()
    let index =
      "<fetchIndex name=\"byText\"><fetchIndexElement property=\"text\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
    let first = try Fixtures.read(
      "<model><entity name=\"Note\">", Self.text, "</entity><entity name=\"Tag\">", Self.text, "</entity></model>")
    let second = try Fixtures.read("<model><entity name=\"Note\">", Self.text, index, "</entity></model>")
    try work(first, url) { _, context in
      for entity in ["Note", "Tag", "Tag"] {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue("a", forKey: "text")
      }
      try context.save()
    }
    try work(second, url) { coordinator, context in
      let store = try #require(coordinator.persistentStores.first as? CairnIncrementalStore)
      func rows() throws -> Int {
        let snapshot = try #require(try store.rowStore?.snapshot())
        return try (1..<40).reduce(0) { try $0 + snapshot.count(in: $1) }
      }
      func path() throws -> String? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "text == 'a'")
        return try store.report(of: request, in: context).path
      }
      #expect(try rows() == 3)
      #expect(try path() == nil)
      try coordinator.finishDeferredLightweightMigrationTask()
      #expect(try path() != nil)
      #expect(try rows() == 3)
      try coordinator.finishDeferredLightweightMigration()
      #expect(try rows() == 1)
      try coordinator.finishDeferredLightweightMigrationTask()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
    }
  }

  private func work(
    _ model: NSManagedObjectModel, _ url: URL,
    _ body: (NSPersistentStoreCoordinator, NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url,
      options: [
        CairnDurabilityOption: "buffered", NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true, NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
      ])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(coordinator, context) }
    try coordinator.remove(store)
  }
}
