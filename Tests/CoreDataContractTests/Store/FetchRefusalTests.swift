import CoreData
import Testing

/// Outside Apple's platforms there are no exceptions, so requests that raise one there are errors here.
#if !canImport(Darwin)
  @Suite("Refused fetches", .anyStore)
  struct FetchRefusalTests {
    private let stack: Stack<RecordingStore>

    init() throws { stack = try Stack() }

    @Test("A fetch of an entity that does not exist throws an error.")
    func unknownEntity() {
      stack.work { context in
        #expect(thrown { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Dragon")) } != nil)
      }
    }

    @Test("A fetch with pending changes refuses unknown key paths in predicates and sort descriptors.")
    func unknownKeyPath() {
      stack.work { context in
        context.make("Person", ["name": "Dan"])
        #expect(thrown { try context.fetch(people("shoeSize = 43")) }?.domain == NSCocoaErrorDomain)
        let request = people()
        request.sortDescriptors = [NSSortDescriptor(key: "shoeSize", ascending: true)]
        #expect(thrown { try context.fetch(request) }?.domain == NSCocoaErrorDomain)
      }
    }

    @Test("A fetch of dictionaries refuses to-many relationships.")
    func toManyInADictionary() throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
      _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      context.performAndWait {
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["friends"]
        #expect(thrown { try context.fetch(request) }?.domain == NSCocoaErrorDomain)
      }
    }

    @Test("Reading a key that the entity does not have ends the program.")
    func unknownKey() async {
      await #expect(processExitsWith: .failure) {
        try Stack<RecordingStore>().work { _ = $0.make("Person", ["shoeSize": 43]) }
      }
    }
  }
#endif
