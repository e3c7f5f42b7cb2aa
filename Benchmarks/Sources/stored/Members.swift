import CairnIncrementalStore
import OpenCoreData

/// Relationships with many members, and with few.
struct Members {
  let rounds: Int
  private let url: URL

  init(rounds: Int, at url: URL) {
    self.rounds = rounds
    self.url = url
  }

  func measure(into table: inout FigureTable) throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let stack = try Stack(at: url)
    let large = try stack.work { context in
      let large = context.insertItem(0)
      for number in 1...21_800 { large.mutableSetValue(forKey: "parts").add(context.insertItem(number)) }
      try context.save()
      return large.objectID
    }
    var read: [Double] = []
    var added: [Double] = []
    for round in 0..<rounds {
      try stack.work { context in
        let relationship = large.entity.relationshipsByName["parts"]!
        let (ids, each) = try time(1) {
          try stack.store.newValue(forRelationship: relationship, forObjectWith: large, with: context)
        }
        precondition((ids as! [NSManagedObjectID]).count == 21_800 + round)
        read.append(each / 1e6)
        context.insertItem(-1).setValue(context.object(with: large), forKey: "owner")
        added.append(try time(1) { try context.save() }.each / 1e6)
      }
    }
    table.add("21,800 members read", read, "ms")
    table.add("one member added and saved", added, "ms")
    for start in stride(from: 0, to: 400_000, by: 10_000) {
      try stack.work { context in
        for number in start..<start + 10_000 { _ = context.insertItem(number) }
        try context.save()
      }
    }
    let before = stack.store.statistics!
    let edges = try tag(stack)
    let after = stack.store.statistics!
    let ends = Double(2 * edges)
    table.add(
      "index memory, an edge in one direction, degree 4", [Double(after.indexBytes - before.indexBytes) / ends],
      "bytes", goal: 2)
    table.add(
      "on disk, the same, without the rows that were saved again",
      [Double(after.liveBytes - before.liveBytes) / ends], "bytes")
    try stack.close()
  }

  /// Adds a many-to-many relationship, on average with four tags per item, to items that exist already.
  private func tag(_ stack: Stack) throws -> Int {
    try stack.work { context in
      let items = try context.fetch(.items())
      var edges = 0
      for (number, item) in items.enumerated() {
        let tags = item.mutableSetValue(forKey: "tags")
        for _ in 0..<4 { tags.add(items.randomElement()!) }
        edges += tags.count
        // Save often: before a large batch commits, the engine reserves the memory that it may need, and keeps it.
        if number % 1000 == 999 { try context.save() }
      }
      try context.save()
      return edges
    }
  }
}
