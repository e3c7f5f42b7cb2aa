import CoreData
import Foundation
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

/// A store of animals, which a server tells apart by their kind and changes several at a time.
struct TypeStoreTests {
  @Test func entitiesWithOneCollectionAreObjectsOfTheirOwn() async throws {
    try await withBackend { request, _ in
      if request.method == "POST" {
        return .json(#"[{"status": 201, "body": {"id": 4}}, {"status": 201, "body": {"id": 5}}]"#)
      }
      return .json(#"[{"id": 1, "kind": "dog"}, {"id": 2, "kind": "cat"}, {"id": 3, "kind": "dog"}]"#)
    } _: { backend async throws in
      var animal = HTTPEntity("Animal", path: "/animals", attributes: ["name": "name"])
      animal.types = HTTPTypes("kind", ["dog": "Dog", "cat": "Cat"])
      var description = HTTPDescription(
        baseURL: backend.url, entities: [animal, HTTPEntity("Dog"), HTTPEntity("Cat")])
      (description.batch, description.repeating) = (HTTPBatch(path: "/batch"), .keys)
      let service = HTTPService(description)
      let directory = FileManager.default.temporaryDirectory.appending(path: "types-\(UUID().uuidString).cairn")
      defer { try? FileManager.default.removeItem(at: directory) }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      var options = NSPersistentStoreDescription.remote(at: directory, service).options as [AnyHashable: Any]
      options[RemoteSendsByHandOption] = true
      let store = try #require(
        try coordinator.addPersistentStore(type: .remote, at: directory, options: options) as? RemoteIncrementalStore)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator

      let request = NSFetchRequest<NSManagedObject>(entityName: "Cat")
      request.fetchLimit = 1
      try await store.refresh(request)
      func count(_ name: String) async throws -> Int {
        try await context.perform {
          let request = NSFetchRequest<NSManagedObject>(entityName: name)
          request.freshness = .cached
          return try context.count(for: request)
        }
      }
      #expect(try await [count("Animal"), count("Dog"), count("Cat")] == [3, 2, 1])

      try await context.perform {
        for name in ["Dog", "Cat"] { _ = NSEntityDescription.insertNewObject(forEntityName: name, into: context) }
        try context.save()
      }
      await store.sendChanges()
      #expect(try store.unsentChanges.isEmpty)
      let sent = try #require(backend.received.first { $0.method == "POST" })
      #expect(sent.path == "/batch" && sent.body.contains(#""kind":"dog""#) && sent.body.contains(#""kind":"cat""#))
      #expect(try await [count("Dog"), count("Cat")] == [3, 2])
      try coordinator.remove(store)
      await service.shutdown()
    }
  }

  private static func model() -> NSManagedObjectModel {
    let (animal, dog, cat) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    let name = NSAttributeDescription()
    (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
    (animal.name, animal.isAbstract, animal.properties) = ("Animal", true, [name])
    (dog.name, cat.name, animal.subentities) = ("Dog", "Cat", [dog, cat])
    let model = NSManagedObjectModel()
    model.entities = [animal, dog, cat]
    return model
  }
}
