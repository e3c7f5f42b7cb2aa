#if PostgreSQL
  import CoreData
  import Foundation
  import Testing

  @testable import PostgreSQLIncrementalStore

  @Suite("Saves to PostgreSQL of objects whose rows are known")
  struct KnownRowsTests {
    @Test("They take one round trip, whatever the staleness interval.", arguments: [-1.0, 0])
    func roundTrips(_ interval: TimeInterval) throws {
      let proxy = Proxy()
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let context = try namespace.context()
      try context.performAndWait {
        context.stalenessInterval = interval
        let order = context.insert("Order", ["number": 1])
        try context.save()
        order.setValue(2, forKey: "number")
        try context.save()
        let before = proxy.requests
        order.setValue(3, forKey: "number")
        context.insert("Order", ["number": 4])
        try context.save()
        #expect(proxy.requests == before + 1)
        context.delete(order)
        try context.save()
        // What an object that is deleted is related to is read.
        #expect(proxy.requests == before + 3)
      }
      let other = try namespace.context()
      try other.performAndWait {
        let found = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Order"))
        #expect(found.map { $0.value(forKey: "number") as? Int } == [4])
      }
    }

    @Test("What somebody else has changed or deleted since is a conflict.", arguments: [-1.0, 0])
    func conflicts(_ interval: TimeInterval) throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let (one, other) = (try namespace.context(), try namespace.context())
      let ids = try one.performAndWait {
        let orders = (0..<3).map { one.insert("Order", ["number": $0]) }
        try one.save()
        return orders.map(\.objectID)
      }
      for change in 0..<2 {
        let error = try one.performAndWait {
          one.stalenessInterval = interval
          let orders = ids.map { one.object(with: $0) }
          for order in orders { order.setValue((order.value(forKey: "number") as? Int ?? 0) + 1, forKey: "number") }
          try other.performAndWait {
            let changed = other.object(with: ids[change])
            if change == 0 { changed.setValue(7, forKey: "number") } else { other.delete(changed) }
            try other.save()
          }
          let error = failure { try one.save() }
          one.reset()
          return error
        }
        #expect(error?.code == NSManagedObjectMergeError)
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        #expect(conflicts?.map(\.sourceObject.objectID) == [ids[change]])
        #expect((conflicts?.first?.persistedSnapshot?["number"] as? Int) == (change == 0 ? 7 : nil))
      }
      try other.performAndWait {
        other.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let found = try other.fetch(request).map { $0.value(forKey: "number") as? Int }
        #expect(found == [2, 7])
      }
    }

    @Test("History that another coordinator has begun to record is interrupted.")
    func history() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let one = try namespace.context()
      let order = try one.performAndWait {
        let order = one.insert("Order", ["number": 1])
        try one.save()
        order.setValue(2, forKey: "number")
        try one.save()
        return order
      }
      let other = try namespace.context([NSPersistentHistoryTrackingKey: true as NSNumber])
      try other.performAndWait {
        other.insert("Order", ["number": 3])
        try other.save()
      }
      let rows = try namespace.rowStore()
      let before = try rows.snapshot().row(StoreHead.historyReference, in: StoreHead.table)
      #expect(before != nil)
      try one.performAndWait {
        order.setValue(4, forKey: "number")
        try one.save()
      }
      let after = try rows.snapshot().row(StoreHead.historyReference, in: StoreHead.table)
      #expect(after?.version == before.map { $0.version + 1 })
      try rows.close()
    }
  }
#endif
