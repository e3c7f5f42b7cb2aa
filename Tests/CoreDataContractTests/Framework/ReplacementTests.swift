// Apple's Core Data replaces only SQLite stores.
#if !canImport(Darwin)
  import CoreData
  import Testing

  @Suite("Replacing a store")
  struct ReplacementTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())

    private func open(_ url: URL) throws -> NSPersistentStore {
      try coordinator.addPersistentStore(type: FileStore.type, at: url, options: [Backing.option: Backing()])
    }

    /// Makes a store with one person.
    private func make(_ name: String, at url: URL) throws {
      let store = try open(url)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        context.make("Person", ["name": name])
        try context.save()
      }
      try coordinator.remove(store)
    }

    /// The names of the people in a store.
    private func names(at url: URL) throws -> String {
      let store = try open(url)
      defer { try? coordinator.remove(store) }
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return try context.performAndWait { try context.names() }
    }

    private func replace(_ destination: URL, with source: URL) throws {
      try coordinator.replacePersistentStore(at: destination, withPersistentStoreFrom: source, type: FileStore.type)
    }

    @Test("Replacing a store leaves two equal stores, and nothing else.")
    func file() throws {
      try withFolder { folder in
        let (one, other) = (folder.appending(path: "one"), folder.appending(path: "other"))
        try make("Ada", at: one)
        try make("Bob", at: other)
        try replace(other, with: one)
        #expect(try names(at: other) == "Ada")
        #expect(try names(at: one) == "Ada")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["one", "other"])
      }
    }

    @Test("Replacing a store that does not exist makes it.")
    func nothing() throws {
      try withFolder { folder in
        let (one, other) = (folder.appending(path: "one"), folder.appending(path: "other"))
        try make("Ada", at: one)
        try coordinator.replacePersistentStore(
          at: other, withPersistentStoreFrom: one, ofType: FileStore.type.rawValue)
        #expect(try names(at: other) == "Ada")
      }
    }

    @Test("Stores that are folders can be replaced, too.")
    func folders() throws {
      try withFolder { folder in
        let files = FileManager.default
        let (one, other) = (folder.appending(path: "one"), folder.appending(path: "other"))
        for url in [one, other] {
          try files.createDirectory(at: url.appending(path: "deep"), withIntermediateDirectories: true)
          try Data(url.lastPathComponent.utf8).write(to: url.appending(path: "deep/file"))
        }
        try Data().write(to: other.appending(path: "extra"))
        try replace(other, with: one)
        #expect(try String(contentsOf: other.appending(path: "deep/file"), encoding: .utf8) == "one")
        #expect(try files.contentsOfDirectory(atPath: other.path) == ["deep"])
        #expect(try files.contentsOfDirectory(atPath: folder.path).sorted() == ["one", "other"])
      }
    }

    @Test("Replacing a store is refused while the coordinator has it, and possible once it is removed.")
    func used() throws {
      try withFolder { folder in
        let (one, other) = (folder.appending(path: "one"), folder.appending(path: "other"))
        try make("Ada", at: one)
        try make("Bob", at: other)
        let store = try open(other)
        #expect(thrown { try replace(other, with: one) }?.code == 134070)
        try coordinator.remove(store)
        #expect(try names(at: other) == "Bob")
        try replace(other, with: one)
        #expect(try names(at: other) == "Ada")
      }
    }

    @Test("Replacing a store fails and leaves the store if the source does not exist, or is the store itself.")
    func failure() throws {
      try withFolder { folder in
        let store = folder.appending(path: "store")
        try make("Ada", at: store)
        #expect(thrown { try replace(store, with: folder.appending(path: "none")) }?.code == 134070)
        #expect(thrown { try replace(store, with: store) }?.code == 134070)
        #expect(try names(at: store) == "Ada")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
      }
    }

    @Test("In-memory stores cannot be replaced.")
    func memory() {
      let url = URL(filePath: "/dev/null")
      let error = thrown {
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: url, type: .inMemory)
      }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134070)
    }

    @Test("The class of a store decides how the store is replaced.")
    func ownWay() throws {
      let type = NSPersistentStore.StoreType(rawValue: "OwnWayStore")
      NSPersistentStoreCoordinator.registerStoreClass(OwnWayStore.self, type: type)
      let url = URL(filePath: "/nowhere/\(UUID().uuidString)")
      #expect(throws: Refusal(method: .save)) {
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: url, type: type)
      }
    }
  }

  private final class OwnWayStore: RecordingStore {
    override class func replacePersistentStore(
      at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
      sourceOptions: [AnyHashable: Any]?
    ) throws { throw Refusal(method: .save) }
  }
#endif
