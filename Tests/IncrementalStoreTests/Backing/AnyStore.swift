import Foundation
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
  /// Every kind of store; if there is a server, only those whose database searches.
  static var anyStore: Self {
    let hasServer = ProcessInfo.processInfo.environment["CAIRN_POSTGRESQL"] != nil
    return Self(kinds: StoreKind.allCases.filter { $0.searches == hasServer })
  }

  /// The kinds of store whose database does not search, so that fetches read entries.
  static var entryStore: Self { Self(kinds: StoreKind.allCases.filter { !$0.searches }) }
}
