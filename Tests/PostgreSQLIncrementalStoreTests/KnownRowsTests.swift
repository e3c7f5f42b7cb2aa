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

    @Test(
      "Their objects, and those that they come to refer to, are not read one by one.",
      arguments: [-1.0, 0], [false, true])
    func together(_ interval: TimeInterval, _ keepsHistory: Bool) throws {
      let proxy = Proxy()
      defer { proxy.end() }
      let namespace = Namespace(Server.address(in: proxy.folder))
      defer { namespace.remove() }
      let writer = try namespace.context()
      let ids = try writer.performAndWait {
        let goods = (0..<50).map { writer.add("goods \($0)") }
        try writer.save()
        return goods.map(\.objectID)
      }
      let context = try namespace.context([NSPersistentHistoryTrackingKey: keepsHistory])
      try context.performAndWait {
        context.stalenessInterval = interval
        let goods = try context.goods()
        for count in 1...2 {
          for some in goods { some.setValue(count, forKey: "count") }
          let before = proxy.requests
          try context.save()
          #expect(proxy.requests - before < 12, "\(proxy.requests - before)")
        }
        for change in 0..<4 {
          let before = proxy.requests
          for (place, some) in goods.enumerated() {
            switch change {
            case 0: some.setValue(goods[(place + 1) % 50], forKey: "substitute")
            case 1: some.setValue(place % 3 == 0 ? nil : goods[(place + 7) % 50], forKey: "substitute")
            case 2: some.setValue("new \(place)", forKey: "name")
            default: some.setValue("new \((place + 1) % 50)", forKey: "name")
            }
          }
          let fired = proxy.requests
          try context.save()
          #expect(proxy.requests - fired < 12, "change \(change): \(fired - before), \(proxy.requests - fired)")
        }
        context.reset()
        for number in 0..<2 {
          let before = proxy.requests
          let order = context.insert("Order", ["number": number])
          order.setValue(Set(ids.map { context.object(with: $0) }), forKey: "contents")
          try context.save()
          #expect(proxy.requests - before < 12, "\(proxy.requests - before)")
        }
        // The last of them is deleted by somebody else.
        let other = try namespace.context()
        try other.performAndWait {
          other.delete(other.object(with: ids[49]))
          try other.save()
        }
        let order = context.insert("Order", ["number": 2])
        order.setValue(Set(ids.map { context.object(with: $0) }), forKey: "contents")
        #expect(failure { try context.save() } != nil)
      }
      let last = try namespace.context([NSPersistentHistoryTrackingKey: keepsHistory])
      try last.performAndWait {
        for some in try last.goods() { last.delete(some) }
        let before = proxy.requests
        try last.save()
        #expect(proxy.requests - before < 20, "deleted: \(proxy.requests - before)")
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
