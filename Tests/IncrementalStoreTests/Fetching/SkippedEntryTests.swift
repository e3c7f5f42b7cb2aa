import CairnSimulation
import CoreData
import Dispatch
import Foundation
@testable import IncrementalStore
import Testing

@Suite("Entries that a fetch passes over", .entryStore)
struct SkippedEntryTests {
  /// How many objects have the same rank.
  enum Ranks: CaseIterable {
    case one, few, hundreds

    func rank(_ random: inout SplitMix64) -> Double? {
      switch self {
      case .one: .random(in: 0..<1e9, using: &random)
      case .few: Int.random(in: 0..<10, using: &random) == 0 ? nil : Double(Int.random(in: 0..<500, using: &random))
      case .hundreds: Double(Int.random(in: 0..<6, using: &random))
      }
    }
  }

  private let stack: Stack<RecordingStore>

  init() throws {
    stack = try Stack(Tracker.model(), Backing(), options: [BuildsIndexesFirstOption: NSNumber(value: true)])
  }

  private func fill(_ ranks: Ranks, _ random: inout SplitMix64) throws {
    for save in 0..<2 {
      try stack.work { context throws in
        for number in save * 400..<(save + 1) * 400 {
          let issue = context.make(number % 7 == 0 ? "Bug" : "Issue", ["number": number, "title": "T"])
          issue["rank"] = ranks.rank(&random)
        }
        try context.save()
      }
    }
  }

  private static func random() -> (SplitMix64, seed: UInt64) {
    let text = ProcessInfo.processInfo.environment["OPENCOREDATA_SEED"]
    let seed = text.flatMap { UInt64($0) } ?? .random(in: .min ... .max)
    return (SplitMix64(seed: seed), seed)
  }

  @Test("A page of a sorted fetch has the objects of the whole fetch from its offset on.", arguments: Ranks.allCases)
  func pages(_ ranks: Ranks) throws {
    var (random, seed) = Self.random()
    try fill(ranks, &random)
    try stack.work { context throws in
      for (entity, ascending) in [("Issue", true), ("Issue", false), ("Bug", true), ("Bug", false)] {
        let request = people(nil, entity)
        request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: ascending)]
        let all = try context.fetch(request).map(\.objectID)
        for _ in 0..<12 {
          (request.fetchOffset, request.fetchLimit) = (Int.random(in: 0...all.count, using: &random), 9)
          let page = try context.fetch(request).map(\.objectID)
          #expect(page == Array(all.dropFirst(request.fetchOffset).prefix(9)), "OPENCOREDATA_SEED=\(seed)")
        }
        (request.fetchOffset, request.fetchLimit, request.predicate) = (0, 0, NSPredicate(format: "rank >= 2"))
        let some = try context.fetch(request).map(\.objectID)
        #expect(some.elementsEqual(all.filter { context.object(with: $0)["rank"] as? Double ?? 0 >= 2 }))
      }
    }
  }

  @Test("A count of many entries is that of the objects.", arguments: Ranks.allCases)
  func counts(_ ranks: Ranks) throws {
    var (random, seed) = Self.random()
    try fill(ranks, &random)
    try stack.work { context throws in
      let all = try context.fetch(people(nil, "Issue")).compactMap { $0["rank"] as? Double }
      for _ in 0..<12 {
        let bounds = (0..<2).map { _ in all.randomElement(using: &random) ?? 0 }.sorted()
        let request = people(nil, "Issue")
        request.predicate = NSPredicate(format: "rank >= %lf AND rank < %lf", bounds[0], bounds[1])
        let between = all.count { $0 >= bounds[0] && $0 < bounds[1] }
        #expect(try context.count(for: request) == between, "OPENCOREDATA_SEED=\(seed)")
        request.predicate = NSPredicate(format: "rank == %lf", bounds[0])
        let equal = all.count { $0 == bounds[0] }
        #expect(try context.count(for: request) == equal, "OPENCOREDATA_SEED=\(seed)")
        request.predicate = NSPredicate(format: "title == 'T'")
        #expect(try context.count(for: request) == 800)
      }
    }
  }

  @Test("A page far behind the first, and a count of many entries, read few of the entries.")
  func reads() throws {
    // Other row stores have no packs.
    guard StoreKind.current == .cairn else { return }
    var (random, seed) = Self.random()
    try fill(.one, &random)
    try stack.work { context throws in
      for ascending in [true, false] {
        let request = people(nil, "Issue")
        request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: ascending)]
        (request.fetchOffset, request.fetchLimit) = (700, 9)
        let page = try stack.store.report(of: request, in: context)
        #expect(page.results == 9 && page.rowsRead == 9, "OPENCOREDATA_SEED=\(seed): \(page)")
        #expect(page.entriesRead < 300, "OPENCOREDATA_SEED=\(seed): \(page)")
      }
      let request = people(nil, "Issue")
      (request.resultType, request.predicate) = (.countResultType, NSPredicate(format: "title == 'T'"))
      let count = try stack.store.report(of: request, in: context)
      #expect(count.results == 800 && count.rowsRead == 0, "OPENCOREDATA_SEED=\(seed): \(count)")
      #expect(count.entriesRead < 300, "OPENCOREDATA_SEED=\(seed): \(count)")
    }
  }

  @Test("Two threads that read pages while a third one saves find as many objects as there are behind the offset.")
  func threads() throws {
    var (random, chosen) = Self.random()
    let seed = chosen
    try fill(.few, &random)
    let coordinator = try stack.work { context throws in try #require(context.persistentStoreCoordinator) }
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      for round in 0..<20 {
        do {
          try context.performAndWait {
            let request = people(nil, "Issue")
            request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: thread == 0)]
            if thread == 2 {
              request.fetchLimit = 50
              for issue in try context.fetch(request) { issue["rank"] = Double(round * 25) }
              try context.save()
            } else {
              (request.fetchOffset, request.fetchLimit) = (795 - round * 30, 9)
              let page = try context.fetch(request)
              #expect(page.count == min(9, 5 + round * 30), "OPENCOREDATA_SEED=\(seed)")
              #expect(Set(page.map(\.objectID)).count == page.count, "OPENCOREDATA_SEED=\(seed)")
            }
          }
        } catch { Issue.record(error) }
      }
    }
  }
}
