#if PostgreSQL
  import CoreData
  import Foundation
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("Losses of the connection to PostgreSQL")
  struct ConnectionLossTests {
    private let proxy = Proxy()

    @Test(
      "A save whose connection is lost during the commit is made once.",
      arguments: [Proxy.Cut.answer, .commit])
    func commit(_ cut: Proxy.Cut) throws {
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let context = try namespace.context()
      try context.performAndWait {
        let goods = context.add("bread", count: 1)
        try context.save()
        goods.setValue(2, forKey: "count")
        context.add("salt")
        proxy.cut(cut)
        try context.save()
        #expect(proxy.hasCut)
        goods.setValue(3, forKey: "count")
        try context.save()
      }
      let other = try namespace.context()
      try other.performAndWait {
        let names = try other.names()
        #expect(names == ["bread", "salt"])
        #expect(try other.goods("name == 'bread'").first?.value(forKey: "count") as? Int == 3)
      }
    }

    @Test("A save that is tried again waits until the server has ended its first transaction.")
    func late() async throws {
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let rows = try namespace.rowStore()
      var changes = RowChanges()
      changes.rows = [RowChanges.Row(table: 7, reference: .integer(1), change: .put([1]), revision: nil)]
      proxy.cut(.late)
      let observer = try Connection(Server.address, password: nil, namespace: namespace.name)
      let (proxy, made) = (proxy, changes)
      let save = Task.detached { try rows.save { _ in made } }
      while try observer.run("SELECT 1 FROM pg_locks WHERE NOT granted", Parameters()).count == 0 { await Task.yield() }
      proxy.release()
      let revision = try await save.value
      let row = try rows.snapshot().row(.integer(1), in: 7)
      #expect(row?.revision == revision)
      #expect(row?.version == 1)
      try rows.close()
    }

    @Test("A save of which the server hears only after it was made again is not made twice.")
    func lateSave() throws {
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let rows = try namespace.rowStore()
      _ = try rows.save { put(1, try $0.row(.integer(1), in: 7)) }
      proxy.cut(.lateSave)
      // Nothing is read, so that all of the save is sent at once.
      let revision = try rows.save { _ in put(2, nil) }
      proxy.release()
      let row = try rows.snapshot().row(.integer(2), in: 7)
      #expect(row?.revision == revision)
      #expect(row?.version == 1)
      #expect(try rows.snapshot().count(in: 7) == 2)
      try rows.close()
    }

    private func put(_ number: Int64, _ row: StoredRow?) -> RowChanges {
      var changes = RowChanges()
      changes.rows = [.init(table: 7, reference: .integer(number), change: .put([1]), revision: row?.revision)]
      return changes
    }

    @Test("A connection that was lost while nobody used it is replaced.")
    func idle() throws {
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let context = try namespace.context()
      try context.performAndWait {
        context.add("bread")
        try context.save()
        proxy.disconnect()
        #expect(try context.names() == ["bread"])
        proxy.disconnect()
        context.add("salt")
        try context.save()
        #expect(try context.names() == ["bread", "salt"])
      }
    }

    @Test("A snapshot whose connection is lost throws an error, and the next one reads again.")
    func snapshot() throws {
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let rows = try namespace.rowStore()
      let snapshot = try rows.snapshot()
      #expect(try snapshot.row(.integer(1), in: 7) == nil)
      proxy.disconnect()
      let error = failure { _ = try snapshot.row(.integer(1), in: 7) }
      #expect(error?.code == NSPersistentStoreOperationError)
      #expect((error?.userInfo[NSUnderlyingErrorKey] as? PostgreSQLError)?.state.hasPrefix("08") == true)
      #expect(try rows.snapshot().row(.integer(1), in: 7) == nil)
      try rows.close()
    }
  }
#endif
