import Testing

/// Runs each test of a suite with several kinds of store, one after the other.
struct AnyStore: SuiteTrait, TestTrait, TestScoping {
  let kinds: [StoreKind]
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    for kind in kinds { try await StoreKind.$current.withValue(kind) { try await function() } }
  }
}

extension Trait where Self == AnyStore {
  /// Every kind of store. If there are kinds whose database searches, only these: the others are tested without them.
  static var anyStore: Self {
    let searching = StoreKind.allCases.filter(\.searches)
    return Self(kinds: searching.isEmpty ? StoreKind.allCases : searching)
  }

  /// The kinds of store whose database does not search, so that fetches read entries.
  static var entryStore: Self { Self(kinds: StoreKind.allCases.filter { !$0.searches }) }
}
