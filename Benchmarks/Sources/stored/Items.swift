import CairnIncrementalStore
import OpenCoreData

/// Many small objects.
struct Items {
  let count: Int
  let rounds: Int
  private let url: URL

  init(count: Int, rounds: Int, at url: URL) {
    self.count = count
    self.rounds = rounds
    self.url = url
  }

  func measure(into table: inout FigureTable) throws {
    let stack = try Stack(at: url)
    try insert(stack, &table)
    try scan(stack, &table)
    try fire(stack, &table)
    try change(stack, &table)
    let statistics = stack.store.statistics!
    table.add("on disk, an object with its edge", [Double(statistics.liveBytes) / Double(count)], "bytes")
    table.add(
      "index memory, an object with its edge", [Double(statistics.indexBytes) / Double(count)], "bytes", goal: 38)
    try stack.close()
    var opened: [Double] = []
    for _ in 0..<rounds {
      let (stack, each) = try time(1) { try Stack(at: url) }
      opened.append(each / 1e6)
      try stack.close()
    }
    table.add("opened", opened, "ms")
  }

  /// Inserts items, a thousand per save; one item in a hundred owns the others.
  private func insert(_ stack: Stack, _ table: inout FigureTable) throws {
    var made: [Double] = []
    var saved: [Double] = []
    for start in stride(from: 0, to: count, by: 1000) {
      try stack.work { context in
        let (_, each) = time(1000) {
          var owner: NSManagedObject?
          for number in start..<start + 1000 {
            let item = context.insertItem(number)
            if number.isMultiple(of: 100) { owner = item } else { item.setValue(owner, forKey: "owner") }
          }
          context.processPendingChanges()
        }
        made.append(each)
        saved.append(try time(1000) { try context.save() }.each)
      }
    }
    table.add("inserted in a context", made, "ns")
    table.add("saved, new, 1,000 a save", saved, "ns", goal: 15_000)
  }

  private func scan(_ stack: Stack, _ table: inout FigureTable) throws {
    let predicates: [(String, NSPredicate?)] = [
      ("counted, all", nil), ("counted by a number, a row", NSPredicate(format: "number == 17")),
      ("counted by a text, a row", NSPredicate(format: "name BEGINSWITH 'b'")),
    ]
    for (name, predicate) in predicates {
      var figures: [Double] = []
      for _ in 0..<rounds {
        try stack.work { context in
          figures.append(try time(predicate == nil ? 1 : count) { try context.count(for: .items(predicate)) }.each)
        }
      }
      table.add(name, figures, "ns", goal: predicate == nil ? nil : 400)
    }
    var pages: [Double] = []
    for round in 0..<rounds {
      try stack.work { context in
        let request = NSFetchRequest<NSManagedObject>.items()
        request.fetchLimit = 100
        request.fetchOffset = count / 2 + round
        pages.append(try time(1) { try context.fetch(request) }.each / 1e6)
      }
    }
    table.add("a page of 100 after half of them, no sort", pages, "ms")
  }

  /// Fires up to a hundred thousand faults in random order.
  private func fire(_ stack: Stack, _ table: inout FigureTable) throws {
    let some = min(count, 100_000)
    var (cold, warm, node, cached): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
    for _ in 0..<rounds {
      let stack = try Stack(at: url, cacheBytes: 1 << 30)
      defer { try? stack.close() }
      try stack.work { context in
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
        request.resultType = .managedObjectIDResultType
        request.includesPropertyValues = false
        request.fetchLimit = some
        let ids = try context.fetch(request).shuffled()
        node.append(
          try time(some) { for id in ids { _ = try stack.store.newValuesForObject(with: id, with: context) } }.each)
        cached.append(
          try time(some) { for id in ids { _ = try stack.store.newValuesForObject(with: id, with: context) } }.each)
        let objects = ids.map { context.object(with: $0) }
        warm.append(time(some) { for object in objects { object.willAccessValue(forKey: nil) } }.each)
      }
      let empty = try Stack(at: url, cacheBytes: 0)
      defer { try? empty.close() }
      try empty.work { context in
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
        request.resultType = .managedObjectIDResultType
        request.includesPropertyValues = false
        request.fetchLimit = some
        let objects = try context.fetch(request).shuffled().map { context.object(with: $0) }
        cold.append(time(some) { for object in objects { object.willAccessValue(forKey: nil) } }.each)
      }
    }
    table.add("a row given to the context, from disk pages in memory", node, "ns", goal: 4000)
    table.add("the same, from the row cache", cached, "ns", goal: 1500)
    table.add("a fault fired, from disk pages in memory", cold, "ns", goal: 4000)
    table.add("a fault fired, from the row cache", warm, "ns", goal: 1500)
  }

  private func change(_ stack: Stack, _ table: inout FigureTable) throws {
    var saved: [Double] = []
    for round in 0..<rounds {
      try stack.work { context in
        let request = NSFetchRequest<NSManagedObject>.items()
        request.fetchLimit = 1000
        request.fetchOffset = round * 1000 % max(1, count - 1000)
        for item in try context.fetch(request) { item.setValue(-1, forKey: "number") }
        saved.append(try time(1000) { try context.save() }.each)
      }
    }
    table.add("saved, changed, 1,000 a save", saved, "ns")
  }
}
