import CoreData
import Testing

@testable import IncrementalStore

@Suite("The row cache and many threads")
struct RowCacheConcurrencyTests {
  /// Immutable.
  private struct Pets: @unchecked Sendable {
    let ids: [NSManagedObjectID]

    init(_ store: RecordingStore) {
      ids = (0..<8).map { store.newObjectID(for: store.entity("Pet"), referenceObject: NSNumber(value: $0)) }
    }

    func set(_ place: Int, revision: UInt64, in cache: RowCache) -> CachedRow {
      cache.reading { start in
        cache.set(CachedRow(bytes: [], version: revision, revision: revision), of: ids[place], readSince: start)
      }
    }
  }

  @Test("No thread sees an older state of a row after a newer one while others register and change rows.")
  func rising() async throws {
    let stack = try Stack<RecordingStore>()
    let pets = Pets(stack.store)
    let cache = RowCache(limit: 100_000)
    await withTaskGroup(of: Bool.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var seen = [UInt64](repeating: 0, count: pets.ids.count)
          var isRising = true
          for round in 1...2_000 {
            let place = (worker + round) % pets.ids.count
            if round % 7 == 0 { cache.register([pets.ids[place]]) }
            if round % 7 == 3 { cache.unregister([pets.ids[place]]) }
            let found = pets.set(place, revision: UInt64(round), in: cache).revision
            isRising = isRising && found >= max(seen[place], UInt64(round))
            seen[place] = found
          }
          return isRising
        }
      }
      for await isRising in group { #expect(isRising) }
    }
    withExtendedLifetime(stack) {}
  }
}
