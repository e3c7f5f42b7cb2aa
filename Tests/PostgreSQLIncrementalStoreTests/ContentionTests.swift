#if PostgreSQL
  import Foundation
  import Synchronization
  import CoreData
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("Saves of one row in PostgreSQL")
  struct ContentionTests {
    @Test("A save that others have beaten four times is made before theirs.")
    func starvation() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let (slow, fast) = (try namespace.rowStore(), try namespace.rowStore())
      _ = try fast.save { _ in put(nil) }
      let observer = try Connection(Server.address, password: nil, namespace: namespace.name)
      var attempts = 0
      // A thread of its own, since the threads of tasks may all be waiting.
      let others = DispatchGroup()
      let later = Mutex<Result<UInt64, any Error>?>(nil)
      let revision = try slow.save { snapshot in
        attempts += 1
        let row = try snapshot.row(.integer(1), in: 7)
        if attempts <= 4 {
          _ = try fast.save { put(try $0.row(.integer(1), in: 7)) }
        } else {
          DispatchQueue(label: "another save").async(group: others) {
            let result = Result { try fast.save { put(try $0.row(.integer(1), in: 7)) } }
            later.withLock { $0 = result }
          }
          let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'cairn_saves'::regclass"
          while try observer.run(waiting, Parameters()).count == 0 { sched_yield() }
        }
        return put(row)
      }
      #expect(attempts == 5)
      others.wait()
      #expect(try #require(later.withLock { $0 }).get() > revision)
      #expect(try slow.snapshot().row(.integer(1), in: 7)?.version == 7)
      for rows in [slow, fast] { try rows.close() }
    }

    @Test("A save that inserts a row which exists is planned again.")
    func existingRow() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let rows = try namespace.rowStore()
      _ = try rows.save { _ in put(nil) }
      var attempts = 0
      _ = try rows.save { snapshot in
        attempts += 1
        return put(attempts == 1 ? nil : try snapshot.row(.integer(1), in: 7))
      }
      #expect(attempts == 2)
      #expect(try rows.snapshot().row(.integer(1), in: 7)?.version == 2)
      try rows.close()
    }

    @Test("An update of a row that does not exist changes nothing and is planned again.")
    func missingRow() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let rows = try namespace.rowStore()
      var attempts = 0
      let row = StoredRow(reference: .integer(1), bytes: [], version: 1, revision: 1)
      let revision = try rows.save { snapshot in
        attempts += 1
        return put(attempts == 1 ? row : try snapshot.row(.integer(1), in: 7))
      }
      #expect(attempts == 2)
      let saved = try rows.snapshot().row(.integer(1), in: 7)
      #expect(saved?.version == 1)
      #expect(saved?.revision == revision)
      try rows.close()
    }

    @Test("Numbers of saves that are more than a day old are removed with time.")
    func oldNumbers() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let rows = try namespace.rowStore()
      _ = try rows.save { _ in put(nil) }
      _ = try rows.save { put(try $0.row(.integer(1), in: 7)) }
      let server = try Connection(Server.address, password: nil, namespace: namespace.name)
      try server.run("UPDATE cairn_saves SET made = made - interval '25 hours' WHERE revision = 1")
      try server.run("SELECT setval('cairn_revisions', 255)")
      #expect(try rows.save { put(try $0.row(.integer(1), in: 7)) } == 256)
      let answer = try server.run("SELECT revision FROM cairn_saves ORDER BY revision", Parameters())
      #expect((0..<answer.count).map { answer.integer($0, 0) } == [2, 256])
      try rows.close()
    }

    @Test("Two transactions cannot both save a unique key, whatever their isolation.")
    func uniqueKey() throws {
      let server = try ModelServer()
      defer { server.remove() }
      try server.withContext(unsafe Shop.model) { context in
        context.add("bread")
        try context.save()
      }
      let answer = try server.row("SELECT key, holder FROM cairn_keys")
      #expect(answer.count == 1)
      let key = Array(answer.bytes(0, 0).dropLast()) + [0x7A]
      let insertions = try (1...2).map { holder in
        try EntryTable.keys.insertion([key + answer.bytes(0, 1) + [UInt8(holder)]], Layout(Schema(), .integer))
      }
      for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let transactions = try (0..<2).map { _ in
          try Connection(Server.address, password: nil, namespace: server.namespace.name)
        }
        for transaction in transactions {
          try transaction.run("BEGIN ISOLATION LEVEL \(level)")
          _ = try transaction.run("SELECT 1 FROM cairn_keys", Parameters())
        }
        try transactions[0].run(insertions[0].text, insertions[0].parameters)
        try transactions[0].run("COMMIT")
        #expect(throws: PostgreSQLError.self, "\(level)") {
          try transactions[1].run(insertions[1].text, insertions[1].parameters)
        }
        try transactions[1].run("ROLLBACK")
        _ = try server.row("DELETE FROM cairn_keys WHERE key = '\\x\(key.hexadecimal)'")
      }
    }
  }

  private func put(_ row: StoredRow?) -> RowChanges {
    var changes = RowChanges()
    changes.rows = [.init(table: 7, reference: .integer(1), change: .put([1]), revision: row?.revision)]
    return changes
  }
#endif
