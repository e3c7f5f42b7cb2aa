import CoreData
import Testing

/// Outside Apple's platforms there are no exceptions, so requests that raise one there are errors here.
#if !canImport(Darwin)
  @Suite("A fetch that makes no sense", .anyStore)
  struct FetchRefusalTests {
    private let stack: Stack<RecordingStore>

    init() throws { stack = try Stack() }

    @Test("for objects that do not exist, because the entity does not, is an error")
    func unknownEntity() {
      stack.work { context in
        #expect(thrown { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Dragon")) } != nil)
      }
    }

    @Test("with changes pending, the key paths of a predicate and of sort descriptors must be known")
    func unknownKeyPath() {
      stack.work { context in
        context.make("Person", ["name": "Dan"])
        #expect(thrown { try context.fetch(people("shoeSize = 43")) }?.domain == NSCocoaErrorDomain)
        let request = people()
        request.sortDescriptors = [NSSortDescriptor(key: "shoeSize", ascending: true)]
        #expect(thrown { try context.fetch(request) }?.domain == NSCocoaErrorDomain)
      }
    }

    @Test("to-many relationships cannot be fetched into dictionaries")
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

    @Test("a key that the entity does not have ends the program, where nothing can be thrown")
    func unknownKey() async {
      await #expect(processExitsWith: .failure) {
        try Stack<RecordingStore>().work { _ = $0.make("Person", ["shoeSize": 43]) }
      }
    }
  }
#endif
