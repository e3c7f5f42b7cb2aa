import Testing

/// Marks suites that hold for any store. `Tests/IncrementalStoreTests` runs them with other stores than the one here.
struct AnyStore: SuiteTrait {}

extension Trait where Self == AnyStore {
  static var anyStore: Self { Self() }
}
