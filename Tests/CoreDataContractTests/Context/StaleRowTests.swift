import CoreData
import Testing

// Apple's Core Data does not tell stores which rows a merge names: it reads rows again only as old as the context's
// staleness interval allows.
#if !canImport(Darwin)
  /// Rows that the store has in its cache, and that another client has changed.
  @Suite("Merging with a store that caches rows", .anyStore)
  struct StaleRowTests {
    private let stack: Stack<CachingStore>

    init() throws { stack = try Stack() }

    private func merge(_ ids: [NSManagedObjectID], _ key: String = "updated", into context: NSManagedObjectContext) {
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [context])
    }

    @Test("Merging another client's save reads the named rows again, so that the next save is no conflict.")
    func updated() throws {
      try stack.work { context in
        let ada = try context.person("Ada")
        ada["nickname"] = "Countess"
        stack.backing.change(1, ["age": 37])
        merge([ada.objectID], into: context)
        #expect(ada["age"] as? Int == 37 && ada["nickname"] as? String == "Countess")
        try context.save()
      }
      #expect(stack.backing.rows[1]?.attributes["age"] as? Int == 37)
      #expect(stack.backing.rows[1]?.attributes["nickname"] as? String == "Countess")
    }

    @Test("Merging another client's save also covers faults, and objects that no context uses at the time.")
    func faults() throws {
      try stack.work { other in _ = try other.all("Person").map { $0["age"] } }
      stack.work { context in
        let (ada, bob) = (context.object(with: stack.store.identifier(1)), stack.store.identifier(2))
        stack.backing.change(1, ["age": 37])
        stack.backing.change(2, ["age": 26])
        merge([ada.objectID, bob], into: context)
        #expect(ada["age"] as? Int == 37)
        #expect(context.object(with: bob)["age"] as? Int == 26)
      }
    }

    @Test("Merging another client's deletion makes the object inaccessible in other contexts, too.")
    func deleted() throws {
      try stack.work { context in
        let ada = try context.person("Ada")
        _ = ada["age"]
        stack.backing.rows[1] = nil
        merge([ada.objectID], "deleted", into: context)
        #expect(ada.isDeleted)
        stack.work { other in
          #expect(thrown { try other.existingObject(with: ada.objectID) }?.code == 133000)
        }
      }
    }
  }
#endif
