import CoreData
import Testing

@Suite("How old a value may be that a store knows already", .anyStore)
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

  @Test("any age, if the interval is negative")
  func negative() throws { #expect(try age(-1) == 36) }

  @Test("not at all, if it is 0")
  func zero() throws { #expect(try age(0) == 37) }

  @Test("as old as it says, if it is positive")
  func positive() throws { #expect(try age(3_600) == 36) }

  @Test("a fetch reads what is stored, and the values of what it finds are those")
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
