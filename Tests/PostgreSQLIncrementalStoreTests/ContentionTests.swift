#if PostgreSQL
  import Foundation
  import Synchronization
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("Saves of one row in PostgreSQL")
  struct ContentionTests {
    @Test("A save that others have beaten four times is made before theirs.")
    func starvation() async throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let (slow, fast) = (try namespace.rowStore(), try namespace.rowStore())
      _ = try fast.save { _ in put(nil) }
      let observer = try Connection(Server.address, password: nil, namespace: namespace.name)
      var attempts = 0
      var later: Task<UInt64, any Error>?
      let revision = try slow.save { snapshot in
        attempts += 1
        let row = try snapshot.row(.integer(1), in: 7)
        if attempts <= 4 {
          _ = try fast.save { put(try $0.row(.integer(1), in: 7)) }
        } else {
          later = Task.detached { try fast.save { put(try $0.row(.integer(1), in: 7)) } }
          let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'cairn_saves'::regclass"
          while try observer.run(waiting, Parameters()).count == 0 { sched_yield() }
        }
        return put(row)
      }
      #expect(attempts == 5)
      let last = try await later?.value
      #expect(try #require(last) > revision)
      #expect(try slow.snapshot().row(.integer(1), in: 7)?.version == 7)
      for rows in [slow, fast] { try rows.close() }
    }
  }

  private func put(_ row: StoredRow?) -> RowChanges {
    var changes = RowChanges()
    changes.rows = [.init(table: 7, reference: .integer(1), change: .put([1]), revision: row?.revision)]
    return changes
  }
#endif
