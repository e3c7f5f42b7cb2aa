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

    @Test("leaves two that are alike, and nothing else")
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

    @Test("makes one where there was none")
    func nothing() throws {
      try withFolder { folder in
        let (one, other) = (folder.appending(path: "one"), folder.appending(path: "other"))
        try make("Ada", at: one)
        try coordinator.replacePersistentStore(
          at: other, withPersistentStoreFrom: one, ofType: FileStore.type.rawValue)
        #expect(try names(at: other) == "Ada")
      }
    }

    @Test("goes for folders, too")
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

    @Test("is refused while the coordinator has the store, and is not when it was removed")
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

    @Test("leaves the old one if there is no other, and if it is the other")
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

    @Test("is not possible for stores in memory")
    func memory() {
      let url = URL(filePath: "/dev/null")
      let error = thrown {
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: url, type: .inMemory)
      }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134070)
    }

    @Test("is what the class of the store makes of it")
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
