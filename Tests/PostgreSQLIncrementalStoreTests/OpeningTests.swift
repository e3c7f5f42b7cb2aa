#if PostgreSQL
  import CoreData
  import Foundation
  import PostgreSQLIncrementalStore
  import Testing

  @Suite("Opening a store in PostgreSQL")
  struct OpeningTests {
    @Test("Objects that one coordinator saves are fetched by another one.")
    func plain() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let (one, other) = (try namespace.context(), try namespace.context())
      try one.performAndWait {
        let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: one)
        order.setValue(Set([one.add("salt"), one.add("bread", count: 3)]), forKey: "contents")
        try one.save()
      }
      try other.performAndWait {
        let names = try other.names()
        #expect(names == ["bread", "salt"])
        let found = try other.goods("count > 2")
        #expect(found.map { $0.value(forKey: "name") as? String } == ["bread"])
        let order = (found.first?.value(forKey: "orders") as? Set<NSManagedObject>)?.first
        #expect((order?.value(forKey: "contents") as? Set<NSManagedObject>)?.count == 2)
      }
    }

    @Test("A change of an object that another coordinator has changed meanwhile is a conflict.")
    func conflict() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let (one, other) = (try namespace.context(), try namespace.context())
      try one.performAndWait {
        one.add("bread", count: 1)
        try one.save()
      }
      try other.performAndWait { try #require(try other.goods().first).setValue(2, forKey: "count") }
      try one.performAndWait {
        try #require(try one.goods().first).setValue(3, forKey: "count")
        try one.save()
      }
      let error = other.performAndWait { failure { try other.save() } }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
    }

    @Test("A unique name that another coordinator has saved meanwhile is a conflict.")
    func uniqueness() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let (one, other) = (try namespace.context(), try namespace.context())
      other.performAndWait { _ = other.add("bread") }
      try one.performAndWait {
        one.add("bread")
        try one.save()
      }
      #expect(other.performAndWait { failure { try other.save() } }?.code == NSManagedObjectConstraintMergeError)
    }

    @Test("Stores in two namespaces of one database know nothing of each other.")
    func namespaces() throws {
      let (one, other) = (Namespace(), Namespace())
      defer {
        one.remove()
        other.remove()
      }
      let (first, second) = (try one.context(), try other.context())
      try first.performAndWait {
        first.add("bread")
        try first.save()
      }
      #expect(try second.performAndWait { try second.names() }.isEmpty)
    }

    @Test("A namespace may have any name that the server takes.", arguments: ["a \"b\"; DROP", "ä # %20", "Z"])
    func names(_ name: String) throws {
      let name = name + UUID().uuidString
      let description = try #require(NSPersistentStoreDescription.postgreSQL(Server.address, namespace: name))
      let url = try #require(description.url)
      let rows = try PostgreSQLIncrementalStore.rowStore(at: url, options: nil)
      #expect(try rows.snapshot().count(in: 0) == 0)
      try rows.close()
      try PostgreSQLIncrementalStore.destroyPersistentStore(at: url, options: nil)
    }

    @Test("Several coordinators may make a store at once.")
    func race() async throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let url = namespace.url(Server.address)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let rows = try PostgreSQLIncrementalStore.rowStore(at: url, options: nil)
            #expect(try rows.snapshot().count(in: 0) == 0)
            try rows.close()
          }
        }
        try await group.waitForAll()
      }
    }

    @Test("A store that is opened for reading only must exist, and is not changed.")
    func readOnly() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let error = failure { _ = try namespace.rowStore([NSReadOnlyPersistentStoreOption: true]) }
      #expect(error?.code == NSPersistentStoreOpenError)
      let context = try namespace.context()
      try context.performAndWait {
        context.add("bread")
        try context.save()
      }
      let reading = try namespace.context([NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
      try reading.performAndWait {
        let names = try reading.names()
        #expect(names == ["bread"])
        reading.add("salt")
        #expect(failure { try reading.save() } != nil)
      }
    }

    @Test("The right to read is enough to read, and a save without the right to write says so.")
    func reader() throws {
      let server = try ModelServer()
      let role = "reader_\(UUID().uuidString.prefix(8).lowercased())"
      defer {
        _ = try? server.row("DROP OWNED BY \(role)")
        _ = try? server.row("DROP ROLE \(role)")
        server.remove()
      }
      try server.withContext(unsafe Shop.model) { context in
        let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: context)
        order.mutableSetValue(forKey: "contents").add(context.add("bread", count: 2))
        context.add("salt", count: 1)
        try context.save()
      }
      _ = try server.row("CREATE ROLE \(role) LOGIN")
      let name = "\"\(server.namespace.name)\""
      _ = try server.row("GRANT USAGE ON SCHEMA \(name) TO \(role)")
      _ = try server.row("GRANT SELECT ON ALL TABLES IN SCHEMA \(name) TO \(role)")
      let address = Server.address.replacing("user=cairn", with: "user=\(role)")
      for isReadOnly in [true, false] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: unsafe Shop.model)
        _ = try coordinator.addPersistentStore(
          type: .postgreSQL, at: server.namespace.url(address),
          options: [NSReadOnlyPersistentStoreOption: NSNumber(value: isReadOnly)])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
          let names = try context.names()
          #expect(names == ["bread", "salt"])
          let goods = try context.goods("count > 1 AND name BEGINSWITH[cd] 'BR' AND ANY orders.number == nil")
          #expect(goods.count == 1)
          #expect((goods.first?.value(forKey: "orders") as? Set<NSManagedObject>)?.count == 1)
          context.refreshAllObjects()
          #expect(goods.first?.value(forKey: "count") as? Int == 2)
          goods.first?.setValue(3, forKey: "count")
          let error = failure { try context.save() }
          #expect(error?.code == (isReadOnly ? NSPersistentStoreSaveError : CocoaError.fileReadNoPermission.rawValue))
          let reason = error?.userInfo[NSUnderlyingErrorKey] as? PostgreSQLError
          #expect(reason?.state == (isReadOnly ? nil : "42501"))
        }
      }
      #expect(try server.differences() == [])
    }

    @Test(
      "What cannot be opened is refused with a reason.",
      arguments: [
        ("postgresql:///none?host=FOLDER&user=cairn", NSPersistentStoreOpenError, "none"),
        ("postgresql:///postgres?host=FOLDER&user=nobody", CocoaError.fileReadNoPermission.rawValue, "nobody"),
        ("postgresql:///postgres?host=/nowhere", NSPersistentStoreOperationError, "/nowhere"),
        ("postgresql://me:secret@localhost/postgres", NSPersistentStoreOpenError, "password"),
        ("postgresql:///postgres?password=secret", NSPersistentStoreOpenError, "password"),
        ("mysql:///shop", NSPersistentStoreOpenError, "postgresql:"),
      ])
    func refused(_ address: String, _ code: Int, _ word: String) throws {
      let address = address.replacing("FOLDER", with: Server.folder)
      let url = try #require(URL(string: address))
      let error = try #require(failure { _ = try PostgreSQLIncrementalStore.rowStore(at: url, options: nil) })
      #expect(error.code == code)
      #expect(error.localizedDescription.contains(word))
      #expect(!error.localizedDescription.contains("secret"))
    }

    @Test("A request for which no connection becomes free fails after a time.")
    func connections() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let rows = try namespace.rowStore([PostgreSQLConnectionsOption: 1, PostgreSQLWaitOption: 0.1])
      let snapshot = try rows.snapshot()
      #expect(failure { _ = try rows.snapshot() }?.code == NSPersistentStoreTimeoutError)
      #expect(try snapshot.count(in: 0) == 0)
      try rows.close()
    }

    @Test("A store that is closed refuses reads and saves at once.")
    func closed() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let rows = try namespace.rowStore()
      try rows.close()
      let start = ContinuousClock.now
      #expect(failure { _ = try rows.snapshot() } != nil)
      #expect(failure { _ = try rows.save { _ in RowChanges() } } != nil)
      #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test("A context cannot be pinned to a query generation.")
    func generations() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let context = try namespace.context()
      let error = context.performAndWait { failure { try context.setQueryGenerationFrom(.current) } }
      #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test("A store that is destroyed is gone, and only with everything in its namespace that is its own.")
    func destroyed() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      try namespace.rowStore().close()
      let url = namespace.url(Server.address)
      try PostgreSQLIncrementalStore.destroyPersistentStore(at: url, options: nil)
      #expect(failure { _ = try namespace.rowStore([NSReadOnlyPersistentStoreOption: true]) } != nil)
      // There is nothing to destroy.
      try PostgreSQLIncrementalStore.destroyPersistentStore(at: url, options: nil)
    }
  }
#endif
