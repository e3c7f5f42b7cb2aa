#if PostgreSQL
  import CoreData
  import Foundation
  import Synchronization
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("What others save in PostgreSQL")
  struct ChangeTests {
    @Test("A context that merges automatically follows another coordinator, and observers are notified.")
    func merging() async throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let other = try namespace.context()
      try other.performAndWait {
        for name in ["bread", "salt"] { other.add(name, count: 1) }
        try other.save()
      }
      let context = try namespace.context([
        NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, PostgreSQLPollOption: 0.01,
      ])
      context.automaticallyMergesChangesFromParent = true
      context.retainsRegisteredObjects = true
      let names = try context.performAndWait {
        try context.goods().map { "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "count") ?? "")" }
      }
      #expect(names == ["bread 1", "salt 1"])
      let notified = Flag()
      let observation = NotificationCenter.default.addObserver(
        forName: .NSPersistentStoreRemoteChange, object: context.persistentStoreCoordinator, queue: nil
      ) { _ in notified.raise() }
      defer { NotificationCenter.default.removeObserver(observation) }
      try other.performAndWait {
        let goods = try other.goods()
        goods[0].setValue(2, forKey: "count")
        other.delete(goods[1])
        try other.save()
      }
      // Transactions of other tests may delay the changes.
      var seen = names
      while seen != ["bread 2"] {
        await Task.yield()
        seen = await context.perform {
          context.registeredObjects.filter { !$0.isDeleted }.map {
            "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "count") ?? "")"
          }
        }
      }
      while !notified.isRaised { await Task.yield() }
    }

    @Test("A save is found once, also if it commits after a later one, and not by its own store.")
    func cursor() async throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let one = try #require(try namespace.rowStore() as? PostgreSQLRowStore)
      let other = try #require(try namespace.rowStore() as? PostgreSQLRowStore)
      var cursor = ChangeCursor(of: one.client)
      #expect(try one.saves(&cursor) == 0)
      // A transaction that is open, with a number, while others commit.
      let open = try Connection(Server.address, password: nil, namespace: namespace.name)
      try open.run("BEGIN; SELECT pg_current_xact_id()")
      for number in 1...3 { try other.put(number) }
      try one.put(4)
      while cursor.delay == nil {
        #expect(try one.saves(&cursor) == 0)
        await Task.yield()
      }
      try open.run(
        """
        INSERT INTO cairn_saves (number, client, revision, changes)
        VALUES (gen_random_uuid(), gen_random_uuid(), 1, '\\x01'); COMMIT
        """)
      // Transactions of other tests may delay the saves now.
      var found = 0
      while found < 4 {
        found += try #require(try one.saves(&cursor))
        await Task.yield()
      }
      #expect(found == 4)
      try other.put(5)
      while found < 5 {
        found += try #require(try one.saves(&cursor))
        await Task.yield()
      }
      #expect(found == 5)
      for rows in [one, other] { rows.close() }
    }

    @Test("A save of very many objects does not say which, and all objects are read again.")
    func many() async throws {
      let server = try ModelServer()
      defer { server.remove() }
      let rows = try #require(
        try PostgreSQLIncrementalStore.rowStore(at: server.namespace.url(Server.address), options: nil)
          as? PostgreSQLRowStore)
      defer { rows.close() }
      var cursor = ChangeCursor(of: rows.client)
      _ = try rows.saves(&cursor)
      try server.withContext(unsafe Shop.model) { context in
        for number in 0..<10_001 { context.add("goods \(number)") }
        try context.save()
      }
      // Transactions of other tests may delay the save.
      while try rows.saves(&cursor) != nil { await Task.yield() }
    }
  }

  extension PostgreSQLRowStore {
    /// How many saves of others a look finds; nil if everything may have changed.
    fileprivate func saves(_ cursor: inout ChangeCursor) throws -> Int? {
      guard case .changes(let changes) = try changes(&cursor) else { return nil }
      return changes.count
    }

    fileprivate func put(_ number: Int) throws {
      _ = try save { snapshot in
        var changes = RowChanges()
        let row = try snapshot.row(.integer(Int64(number)), in: 7)
        changes.rows = [
          .init(table: 7, reference: .integer(Int64(number)), change: .put([1]), revision: row?.revision)
        ]
        return changes
      }
    }
  }

  /// Something that happens once.
  private final class Flag: Sendable {
    private let raised = Mutex(false)

    var isRaised: Bool { raised.withLock { $0 } }

    func raise() { raised.withLock { $0 = true } }
  }
#endif
