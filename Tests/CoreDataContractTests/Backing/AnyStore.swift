import Testing

/// Stands at suites about what any store does. `Tests/IncrementalStoreTests` runs them with others than the one here.
struct AnyStore: SuiteTrait {}

extension Trait where Self == AnyStore {
  static var anyStore: Self { Self() }
}
