#if PostgreSQL
  import CoreData
  import PostgreSQLIncrementalStore
  import Testing

  @Suite("What a fetch asks of the server")
  struct SearchTests {
    private let namespace = Namespace()

    /// 300 goods in three orders.
    private func shop() throws -> NSManagedObjectContext {
      let context = try namespace.context()
      try context.performAndWait {
        let orders = (0..<3).map { number in
          let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: context)
          order.setValue(number, forKey: "number")
          return order
        }
        for number in 0..<300 {
          let goods = context.add("goods \(number)", count: Int64(number % 50))
          goods.setValue(Set([orders[number % 3]]), forKey: "orders")
        }
        try context.save()
      }
      return context
    }

    private func report(
      _ context: NSManagedObjectContext, _ predicate: NSPredicate?,
      _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
    ) throws -> FetchReport {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Goods")
      request.predicate = predicate
      change(request)
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? RowIncrementalStore)
      return try store.report(of: request, in: context)
    }

    @Test("A fetch reads the rows that it finds and no others.")
    func rows() throws {
      defer { namespace.remove() }
      let context = try shop()
      try context.performAndWait {
        for (format, rows) in [
          ("name == 'goods 17'", 1), ("count == 7 AND name != 'goods 7'", 5), ("name BEGINSWITH 'goods 29'", 11),
          ("name IN {'goods 1', 'goods 2', 'bread'}", 2), ("NOT count < 49", 6), ("ANY orders.number == 2", 100),
          ("orders.@count == 2", 0), ("SUBQUERY(orders, $o, $o.number > 1).@count > 0 AND count == 2", 2),
          ("name CONTAINS[cd] 'ÖÖDS 298' OR name ENDSWITH ' 299'", 2),
        ] {
          let report = try report(context, NSPredicate(format: format))
          #expect(report.rowsRead == rows && report.results == rows, "\(format): \(report)")
          #expect(report.path?.hasPrefix("at the server: ") == true)
        }
        let members = try report(context, NSPredicate(format: "name == 'goods 1' AND name MATCHES 'g.*'"))
        #expect(members.rowsRead == 1)
        let others = try report(context, NSPredicate(format: "name MATCHES 'g.*'"))
        #expect(others.rowsRead == 300 && others.path == nil && others.statements.isEmpty)
      }
    }

    @Test("The rows that satisfy a predicate are counted by the server.")
    func counts() throws {
      defer { namespace.remove() }
      let context = try shop()
      try context.performAndWait {
        let report = try report(context, NSPredicate(format: "count > 40 AND ANY orders.number == 0")) {
          $0.resultType = .countResultType
        }
        #expect(report.results == 18 && report.rowsRead == 0 && report.statements.count == 1)
      }
    }

    @Test("Of sorted rows the server gives those in the window.")
    func windows() throws {
      defer { namespace.remove() }
      let context = try shop()
      try context.performAndWait {
        let report = try report(context, NSPredicate(format: "count < 40")) {
          $0.sortDescriptors = [
            NSSortDescriptor(key: "count", ascending: false), NSSortDescriptor(key: "name", ascending: true),
          ]
          ($0.fetchOffset, $0.fetchLimit) = (100, 10)
        }
        #expect(report.results == 10 && report.rowsRead == 10 && report.path?.hasSuffix(", in order") == true)
        let all = try self.report(context, nil) {
          $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
          $0.fetchLimit = 3
        }
        #expect(all.rowsRead == 3)
      }
    }

    @Test("Rows are grouped and counted by the server, which gives one row of each group.")
    func groups() throws {
      defer { namespace.remove() }
      let context = try shop()
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Goods")
        request.predicate = NSPredicate(format: "count < 4 AND name != 'goods 0'")
        request.resultType = .dictionaryResultType
        let number = NSExpressionDescription()
        number.name = "number"
        number.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "count")])
        request.propertiesToGroupBy = ["count"]
        request.propertiesToFetch = ["count", number]
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? RowIncrementalStore)
        let report = try store.report(of: request, in: context)
        #expect(report.results == 4 && report.rowsRead == 4 && report.statements.count <= 2, "\(report)")
        #expect(report.path?.hasSuffix(", grouped") == true)
        let counts = NSFetchRequest<NSDictionary>(entityName: "Goods")
        (counts.predicate, counts.resultType) = (request.predicate, .dictionaryResultType)
        counts.propertiesToGroupBy = request.propertiesToGroupBy
        counts.propertiesToFetch = request.propertiesToFetch
        counts.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
        #expect(try context.fetch(counts).map { $0["number"] as? Int } == [5, 6, 6, 6])
      }
    }

    @Test("Rows are sorted by values of related objects at the server, which gives those in the window and no others.")
    func relatedOrder() throws {
      defer { namespace.remove() }
      let context = try shop()
      try context.performAndWait {
        let goods = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Goods")).sorted {
          ($0.value(forKey: "count") as? Int ?? 0) < ($1.value(forKey: "count") as? Int ?? 0)
        }
        for (one, other) in zip(goods, goods.reversed()).prefix(100) { one.setValue(other, forKey: "substitute") }
        try context.save()
        for (path, rows) in [("substitute.count", 10), ("substitute.substitute.name", 10)] {
          let report = try report(context, NSPredicate(format: "count < 40")) {
            $0.sortDescriptors = [NSSortDescriptor(key: path, ascending: false)]
            ($0.fetchOffset, $0.fetchLimit) = (5, 10)
          }
          #expect(report.results == rows && report.rowsRead == rows && report.statements.count == 2, "\(report)")
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Goods")
        request.sortDescriptors = [NSSortDescriptor(key: "substitute.count", ascending: false)]
        request.fetchLimit = 5
        #expect(try context.fetch(request).map { $0.value(forKey: "count") as? Int } == [0, 0, 0, 0, 0])
      }
    }

    @Test(
      "Constants are sent as parameters.",
      arguments: [
        "'; DROP TABLE \"Goods\"; --", "\\", "%", "_", "$1", "\"%_", "a\u{0}b", "\u{FFFD}", "ab\u{301}", "\u{10FFFF}",
      ])
    func parameters(constant: String) throws {
      defer { namespace.remove() }
      let context = try shop()
      try context.performAndWait {
        context.add(constant)
        context.add("x\(constant)y")
        try context.save()
        for (format, number) in [("name == %@", 1), ("name CONTAINS %@", 2), ("name ENDSWITH[cd] %@", 1)] {
          let report = try report(context, NSPredicate(format: format, constant))
          #expect(report.results == number && report.rowsRead <= 4, "\(format): \(report)")
          let isHidden = ["_", "$1"].contains(constant) || report.statements.allSatisfy { !$0.text.contains(constant) }
          #expect(isHidden)
        }
      }
    }
  }
#endif
