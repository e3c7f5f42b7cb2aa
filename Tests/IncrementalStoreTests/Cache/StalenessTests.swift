import CoreData
import Testing

@Suite("Staleness intervals", .anyStore)
struct StalenessTests {
  private let stack: Stack<CachingStore>

  init() throws { stack = try Stack() }

  /// The age of Ada that a context reads after another client has changed it.
  private func age(_ interval: TimeInterval) throws -> Int? {
    try stack.work { context in
      context.stalenessInterval = interval
      let ada = try context.person("Ada")
      _ = ada["age"]
      stack.backing.change(1, ["age": 37])
      context.refresh(ada, mergeChanges: false)
      return ada["age"] as? Int
    }
  }

  @Test("A negative staleness interval permits cached values of any age.")
  func negative() throws { #expect(try age(-1) == 36) }

  @Test("A staleness interval of 0 permits no cached values.")
  func zero() throws { #expect(try age(0) == 37) }

  @Test("A positive staleness interval permits cached values up to that age.")
  func positive() throws { #expect(try age(3_600) == 36) }

  @Test("A fetch reads the stored rows, and the objects that it finds have these values.")
  func fetching() throws {
    try stack.work { context in
      let ada = try context.person("Ada")
      _ = ada["age"]
      stack.backing.change(1, ["age": 37])
      #expect(try context.count(for: people("age = 37")) == 1)
      context.refresh(ada, mergeChanges: false)
      _ = try context.all("Person")
      #expect(ada["age"] as? Int == 37)
    }
  }
}
