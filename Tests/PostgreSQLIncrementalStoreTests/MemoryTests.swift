#if PostgreSQL
  import CHeap
  import CoreData
  import Foundation
  import Testing

  @testable import PostgreSQLIncrementalStore

  /// Counts the bytes that are allocated, in a process of its own, in which nothing else allocates.
  @Suite("Memory of a store in PostgreSQL", .enabled(if: heap_bytes() > 0))
  struct MemoryTests {
    enum Work: String, CaseIterable, Codable, Sendable {
      case searches, changes

      var rounds: Int { self == .searches ? 10_000 : 2000 }
    }

    @Test("The memory of a program does not grow when it repeats the same work.", arguments: Work.allCases)
    func growth(_ work: Work) async {
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        [work = work as Work] in
        heap_unite()
        heap_forget_errors()
        let rounds = try MemoryRounds()
        defer { rounds.end() }
        // Caches fill up, and hash tables find their sizes.
        try rounds.run(work, 200)
        var before = try least(rounds, work)
        // What stays behind does so in both halves; a hash table that grows once more does so in one.
        let growth = try (0..<2).map { _ in
          try rounds.run(work, work.rounds / 2)
          let after = try least(rounds, work)
          defer { before = after }
          return Double(after - before) / Double(work.rounds / 2)
        }
        print("bytes a round: \(growth.min() ?? 0)")
      }
      let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
      let growth = output.split(separator: "bytes a round: ").last.flatMap { Double($0.prefix { !$0.isNewline }) }
      #expect(growth ?? .infinity < 4, "\(output)")
    }
  }

  /// The least number of allocated bytes in 5 samples, between which 20 rounds each are made.
  private func least(_ rounds: MemoryRounds, _ work: MemoryTests.Work) throws -> Int {
    var least = Int.max
    for _ in 0..<5 {
      try rounds.run(work, 20)
      least = min(least, Int(heap_bytes()))
    }
    return least
  }

  /// A store with goods that one context reads and another one changes.
  private final class MemoryRounds {
    private let namespace = Namespace()
    private let context: NSManagedObjectContext
    private let other: NSManagedObjectContext
    private let store: PostgreSQLIncrementalStore
    private let rows: PostgreSQLRowStore
    private var cursor: ChangeCursor
    private var round = 0

    init() throws {
      // The row cache has room for few rows, so that it is full soon.
      let options = [RowCacheBytesOption: NSNumber(value: 16 << 10)]
      (context, other) = (try namespace.context(options), try namespace.context(options))
      store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLIncrementalStore)
      rows = try #require(store.rowStore as? PostgreSQLRowStore)
      cursor = ChangeCursor(of: rows.client)
      context.automaticallyMergesChangesFromParent = true
      try other.performAndWait { [other] in
        for number in 0..<20 { other.add("goods \(number)", count: Int64(number)) }
        try other.save()
      }
      _ = try rows.changes(&cursor)
    }

    func end() { namespace.remove() }

    func run(_ work: MemoryTests.Work, _ count: Int) throws {
      for _ in 0..<count {
        round += 1
        switch work {
        case .searches: try search()
        case .changes: try change()
        }
      }
    }

    private func search() throws {
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Goods")
        request.predicate = NSPredicate(format: "name BEGINSWITH[cd] 'GOODS' AND count == %d", round % 20)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = round % 2 + 1
        let name = try context.fetch(request).first?.value(forKey: "name") as? String
        #expect(name == "goods \(round % 20)")
        request.predicate = NSPredicate(format: "count < %d", round % 20)
        let count = try context.count(for: request)
        #expect(count == min(round % 20, round % 2 + 1))
      }
    }

    private func change() throws {
      try other.performAndWait {
        let goods = try other.goods("name == 'goods 7'")
        goods.first?.setValue(round, forKey: "count")
        try other.save()
      }
      // Transactions of other tests may delay the changes.
      var found: [SavedChanges] = []
      while found.isEmpty {
        guard case .changes(let changes) = try rows.changes(&cursor) else { break }
        found = changes
        sched_yield()
      }
      store.othersHaveSaved(found)
      try context.performAndWait {
        let count = try context.goods("name == 'goods 7'").first?.value(forKey: "count") as? Int
        #expect(count == round)
      }
    }
  }
#endif
