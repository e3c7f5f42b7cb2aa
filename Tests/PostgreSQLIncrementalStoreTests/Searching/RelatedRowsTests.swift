#if PostgreSQL
  import CoreData
  import Foundation
  import PostgreSQLIncrementalStore
  import Testing

  @Suite("Related rows that a fetch from PostgreSQL evaluates")
  struct RelatedRowsTests {
    /// 600 goods, each in the place of another one, and in two of 20 orders.
    private func fill(_ context: NSManagedObjectContext) throws {
      let orders = (0..<20).map { number in
        let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: context)
        order.setValue(number, forKey: "number")
        return order
      }
      let goods = (0..<600).map { context.add("goods \($0)", count: Int64($0 % 50)) }
      for (number, some) in goods.enumerated() {
        some.setValue(goods[(number * 7 + 1) % 600], forKey: "substitute")
        some.setValue(Set([orders[number % 20], orders[(number + 1) % 20]]), forKey: "orders")
      }
      try context.save()
    }

    private func request(
      _ predicate: String? = nil, by key: String? = nil, columns: [Any]? = nil, groups: [Any]? = nil
    ) -> NSFetchRequest<any NSFetchRequestResult> {
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Goods")
      request.predicate = predicate.map { NSPredicate(format: $0) }
      request.sortDescriptors = key.map {
        [NSSortDescriptor(key: $0, ascending: true), NSSortDescriptor(key: "name", ascending: true)]
      }
      if columns != nil || groups != nil { request.resultType = .dictionaryResultType }
      (request.propertiesToFetch, request.propertiesToGroupBy) = (columns, groups)
      return request
    }

    @Test("They are read together, whether a predicate, an order, dictionaries or groups need them.")
    func together() throws {
      let proxy = Proxy()
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let writer = try namespace.context()
      try writer.performAndWait { try fill(writer) }
      let name = NSExpressionDescription()
      (name.name, name.expression) = ("other", NSExpression(forKeyPath: "substitute.name"))
      name.expressionResultType = .stringAttributeType
      let requests: [(NSFetchRequest<any NSFetchRequestResult>, count: Int, requests: Int)] = [
        (request("substitute.name MATCHES '.*7'"), 60, 30),
        (request("substitute.substitute.name MATCHES '.*7'"), 60, 40),
        (request("SUBQUERY(orders, $o, $o.number * 1 > 5).@count == 2"), 390, 40),
        (request("SUBQUERY(orders, $o, $o.number + 1 == 1).@count > 0"), 60, 40),
        (request("name MATCHES '.*'", by: "substitute.name"), 600, 40),
        (request("name MATCHES '.*'", columns: ["name", "substitute.name"]), 600, 40),
        (request(columns: ["name", name]), 600, 40),
        (request(columns: ["substitute.count"], groups: ["substitute.count"]), 50, 40),
      ]
      for (request, count, most) in requests {
        // The row cache of another coordinator has none of the rows.
        let reader = try namespace.context()
        try reader.performAndWait {
          let before = proxy.requests
          let found = try reader.fetch(request)
          #expect(found.count == count, "\(request)")
          #expect(proxy.requests - before <= most, "\(request): \(proxy.requests - before)")
        }
      }
    }

    @Test("A predicate that only rows beyond the first page satisfy finds these, up to the limit.")
    func limits() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let context = try namespace.context()
      try context.performAndWait {
        try fill(context)
        let all = try context.fetch(request("substitute.name MATCHES 'goods .*7'", by: "name"))
        let request = request("substitute.name MATCHES 'goods .*7'")
        for (offset, limit) in [(0, 1), (0, 59), (5, 10), (55, 10), (70, 1)] {
          (request.fetchOffset, request.fetchLimit) = (offset, limit)
          #expect(try context.fetch(request).count == max(0, min(limit, all.count - offset)))
        }
      }
    }

    @Test("They are those of one state, while another process moves them.")
    func concurrently() async throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let writer = try namespace.context()
      try writer.performAndWait { try fill(writer) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let context = try namespace.context()
          try context.performAndWait {
            let goods = try context.goods("name BEGINSWITH 'goods 1'")
            for _ in 0..<20 {
              // All of them change places in each save.
              let others = goods.map { $0.value(forKey: "substitute") }
              for (some, other) in zip(goods, others.dropFirst() + others.prefix(1)) {
                some.setValue(other, forKey: "substitute")
              }
              try context.save()
            }
          }
        }
        for _ in 0..<2 {
          group.addTask {
            for _ in 0..<20 {
              let context = try namespace.context()
              let count = try context.performAndWait {
                try context.fetch(request("name MATCHES '.*' AND substitute.name MATCHES 'goods .*7'")).count
              }
              #expect(count == 60)
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif
