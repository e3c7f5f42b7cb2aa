#if PostgreSQL
  import CoreData
  import Foundation
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("Fetches after which nothing else is read")
  struct LastReadTests {
    private let proxy = Proxy()
    private let namespace: Namespace

    init() { namespace = Namespace(Server.address(in: proxy.folder)) }

    private func end() {
      proxy.end()
      namespace.remove()
    }

    /// Saves goods and returns their identifiers, and a context that has read nothing.
    private func shop(_ count: Int) throws -> (ids: [NSManagedObjectID], context: NSManagedObjectContext) {
      let writer = try namespace.context()
      let ids = try writer.performAndWait {
        let goods = (0..<count).map { writer.add(String(format: "goods %04d", $0), count: Int64($0)) }
        try writer.save()
        return goods.map { $0.objectID.uriRepresentation() }
      }
      // Nothing is read in the background.
      let context = try namespace.context([BuildsIndexesFirstOption: true])
      let coordinator = try #require(context.persistentStoreCoordinator)
      return (ids.compactMap { coordinator.managedObjectID(forURIRepresentation: $0) }, context)
    }

    private func request(
      _ predicate: NSPredicate, _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
    ) -> NSFetchRequest<NSManagedObject> {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Goods")
      (request.predicate, request.returnsObjectsAsFaults) = (predicate, false)
      change(request)
      return request
    }

    private func ids(_ predicate: NSPredicate, _ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Goods")
      (request.predicate, request.resultType) = (predicate, .managedObjectIDResultType)
      return try context.fetch(request)
    }

    private func numbers(_ goods: [NSManagedObject]) -> [Int?] { goods.map { $0.value(forKey: "count") as? Int } }

    @Test("They take one round trip, with the end of their transaction.")
    func roundTrips() throws {
      defer { end() }
      let (ids, context) = try shop(200)
      try context.performAndWait { () throws in
        let some = NSPredicate(format: "count >= 50 AND count < 90")
        let named = NSPredicate(format: "SELF IN %@", Array(ids[..<120]))
        let window = request(some) {
          $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
          ($0.fetchOffset, $0.fetchLimit) = (5, 10)
        }
        let fetches: [(Int, () throws -> Int)] = [
          (40, { try context.fetch(request(some)).count }), (40, { try context.count(for: request(some)) }),
          (40, { try self.ids(some, context).count }), (120, { try context.fetch(request(named)).count }),
          (10, { try context.fetch(window).count }),
        ]
        // The first fetches read the schema.
        for (count, fetch) in fetches { #expect(try fetch() == count) }
        for (place, (count, fetch)) in fetches.enumerated() {
          let before = proxy.requests
          for _ in 0..<3 { #expect(try fetch() == count) }
          #expect(proxy.requests == before + 3, "fetch \(place)")
        }
      }
    }

    @Test("If they find more rows than a page has, they find all, in the order of their references.")
    func pages() throws {
      defer { end() }
      let (ids, context) = try shop(400)
      try context.performAndWait { () throws in
        let wanted = NSPredicate(format: "count >= 10 AND count < 310")
        for _ in 0..<2 { #expect(try numbers(context.fetch(request(wanted))) == Array(10..<310)) }
        #expect(try self.ids(wanted, context) == Array(ids[10..<310]))
      }
    }

    @Test(
      "The rows that a predicate names come in the order of their references, each once.",
      arguments: [1, 100, 101, 3301])
    func named(_ count: Int) throws {
      defer { end() }
      let (ids, context) = try shop(count)
      try context.performAndWait { () throws in
        let named = NSPredicate(format: "SELF IN %@", ids.shuffled() + ids[..<1])
        #expect(try numbers(context.fetch(request(named))) == Array(0..<count))
        let window = request(named) { ($0.fetchOffset, $0.fetchLimit) = (count / 3, 120) }
        #expect(try numbers(context.fetch(window)) == Array(0..<count).dropFirst(count / 3).prefix(120).map { $0 })
        let sorted = request(named) { $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)] }
        #expect(try numbers(context.fetch(sorted)) == Array((0..<count).reversed()))
        let last = request(NSPredicate(format: "SELF IN %@ AND count >= %d", ids, count - 1))
        #expect(try numbers(context.fetch(last)) == [count - 1])
      }
    }

    @Test("A count includes rows about which the server cannot tell.")
    func uncertain() throws {
      defer { end() }
      let (_, context) = try shop(20)
      try context.performAndWait { () throws in
        for name in ["goods\0 1", "goods\0 2"] { context.add(name, count: 100) }
        try context.save()
        // The first fetch reads the schema.
        for _ in 0..<2 {
          #expect(try context.count(for: request(NSPredicate(format: "name BEGINSWITH 'goods'"))) == 22)
          #expect(try context.count(for: request(NSPredicate(format: "name ENDSWITH %@", "\0 2"))) == 1)
        }
      }
    }

    @Test("A predicate that reads other objects is evaluated for each row.")
    func reading() throws {
      defer { end() }
      let (ids, context) = try shop(150)
      try context.performAndWait { () throws in
        for id in ids[..<3] { context.object(with: id).setValue(context.object(with: ids[3]), forKey: "substitute") }
        try context.save()
        context.reset()
        let block = NSPredicate { object, _ in
          (object as? NSManagedObject)?.value(forKeyPath: "substitute.name") as? String == "goods 0003"
        }
        for predicate in [block, NSPredicate(format: "substitute.name == 'goods 0003'")] {
          let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "count < 120"), NSPredicate(format: "SELF IN %@", ids), predicate,
          ])
          #expect(try numbers(context.fetch(request(both))) == [0, 1, 2])
        }
      }
    }

    @Test("If the connection is lost between the rows, they throw, and the next one reads again.")
    func loss() throws {
      defer { end() }
      let (ids, context) = try shop(2000)
      try context.performAndWait { () throws in
        let named = request(NSPredicate(format: "SELF IN %@", ids))
        #expect(try context.fetch(named).count == 2000)
        context.reset()
        proxy.cutAnswers(after: 100_000)
        let error = failure { _ = try context.fetch(named) }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? PostgreSQLError)?.state.hasPrefix("08") == true)
        #expect(try numbers(context.fetch(named)) == Array(0..<2000))
      }
    }

    @Test("If an answer cannot be used, the connection can be used again.")
    func unusable() throws {
      defer { end() }
      let connection = try Connection(Server.address, password: nil, namespace: "pg_catalog")
      let statements = (1...5).map { Statement(text: "SELECT \($0)::bigint") }
      for _ in 0..<2 {
        var numbers: [Int64] = []
        connection.begin("BEGIN")
        #expect(throws: CocoaError.self) {
          try connection.run(statements, areLast: true) { answer in
            numbers.append(answer.integer(0, 0))
            if numbers.count == 2 { throw CocoaError(.userCancelled) }
          }
        }
        #expect(numbers == [1, 2])
        #expect(!connection.isInTransaction)
      }
      #expect(try connection.run("SELECT 7::bigint", Parameters()).integer(0, 0) == 7)
    }
  }
#endif
