import Testing

/// Runs each test of a suite with every kind of store, one after the other.
struct AnyStore: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    for kind in StoreKind.allCases { try await StoreKind.$current.withValue(kind) { try await function() } }
  }
}

extension Trait where Self == AnyStore {
  static var anyStore: Self { Self() }
}
