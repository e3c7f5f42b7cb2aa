#if PostgreSQL
  import CairnIncrementalStore
  import CoreData
  import Foundation
  import PostgreSQLIncrementalStore
  import Testing

  @Suite("Moving a store between Cairn and PostgreSQL")
  struct MovingTests {
    @Test("An application that moves to PostgreSQL and back again finds what it had.")
    func backAndForth() throws {
      let namespace = Namespace()
      let first = URL.temporaryDirectory.appending(path: "first \(UUID().uuidString)")
      let last = URL.temporaryDirectory.appending(path: "last \(UUID().uuidString)")
      defer {
        namespace.remove()
        for url in [first, last] { try? FileManager.default.removeItem(at: url) }
      }
      CairnIncrementalStore.register()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: unsafe Shop.model)
      let begun = try coordinator.addPersistentStore(type: .cairn, at: first)
      let before = try context(coordinator) { context in
        for number in 0..<500 {
          let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: context)
          order.setValue(number, forKey: "number")
          let goods = (0..<3).map { context.add("goods \(number).\($0)", count: Int64($0)) }
          order.setValue(Set(goods), forKey: "contents")
        }
        try context.save()
        return try contents(context)
      }
      let moved = try coordinator.migratePersistentStore(
        begun, to: namespace.url(Server.address), type: .postgreSQL)
      let there = try context(coordinator) { context in
        let contents = try contents(context)
        context.add("new")
        try context.save()
        return contents
      }
      #expect(there == before)
      _ = try coordinator.migratePersistentStore(moved, to: last, type: .cairn)
      let back = try context(coordinator) { context in try contents(context) }
      #expect(back == before.merging(["new": []]) { $1 })
    }

    /// The numbers of the orders of all goods.
    private func contents(_ context: NSManagedObjectContext) throws -> [String: [Int]] {
      var contents: [String: [Int]] = [:]
      for goods in try context.goods() {
        let orders = goods.value(forKey: "orders") as? Set<NSManagedObject> ?? []
        contents[goods.value(forKey: "name") as? String ?? ""] =
          orders.compactMap { $0.value(forKey: "number") as? Int }.sorted()
      }
      return contents
    }

    private func context<Value>(
      _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> Value
    ) throws -> Value {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return try context.performAndWait { try body(context) }
    }
  }
#endif
