import OpenCoreData
import Testing

@Suite("Nodes that a store returns more than once")
struct SharedNodeTests {
  /// A store with one dog, that always returns the same node, and updates it when it is asked for the dog's owner.
  private final class OneDogStore: TestStore {
    var node: NSIncrementalStoreNode?

    override func newValuesForObject(
      with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
      let node = node ?? NSIncrementalStoreNode(objectID: objectID, withValues: ["name": "Rex"], version: 1)
      self.node = node
      return node
    }

    override func newValue(
      forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
      with context: NSManagedObjectContext?
    ) throws -> Any {
      node?.update(withValues: ["name": "Max", "owner": NSNull()], version: 2)
      return NSNull()
    }
  }

  @Test("Updating a node while a context reads it leaves the context the former values with their version.")
  func updated() throws {
    let type = NSPersistentStore.StoreType(rawValue: "OneDog")
    NSPersistentStoreCoordinator.registerStoreClass(OneDogStore.self, type: type)
    let zoo = Zoo()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
    let metadata = [NSStoreTypeKey: type.rawValue, NSStoreUUIDKey: "dogs"]
    let added = try coordinator.addPersistentStore(
      type: type, at: URL(fileURLWithPath: "/dev/null"), options: ["metadata": metadata])
    let store = try #require(added as? OneDogStore)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      let dog = context.object(with: store.newObjectID(for: zoo.dog, referenceObject: 1))
      #expect(dog["name"] as? String == "Rex")
      dog["tricks"] = 3
      #expect(errorCode { try context.save() } == NSManagedObjectMergeError)
      context.refresh(dog, mergeChanges: true)
      #expect(dog["name"] as? String == "Max" && dog["tricks"] as? Int == 3)
    }
  }
}
