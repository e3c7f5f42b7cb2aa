public import Foundation

/// A state of the stores of a coordinator, which later saves do not affect.
///
/// As long as a token or a context keeps it, stores keep the rows that have been replaced or deleted since.
public final class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
  /// The state at the moment at which the context that is pinned with this token reads from a store next.
  public class var current: NSQueryGenerationToken { newest }

  private static let newest = NSQueryGenerationToken(nil, [])

  /// Nil once the coordinator is gone, and for ``current``.
  private(set) weak var coordinator: NSPersistentStoreCoordinator?
  /// The stores, which are retained so that no later store is taken for one of them, and their states. Both are used
  /// under the store lock of the coordinator.
  private let states: [(store: any GenerationStore, state: AnyObject)]

  private init(
    _ coordinator: NSPersistentStoreCoordinator?, _ states: [(store: any GenerationStore, state: AnyObject)]
  ) {
    self.coordinator = coordinator
    self.states = states
  }

  /// The state of all stores that can keep one, as it is now.
  convenience init(of coordinator: NSPersistentStoreCoordinator) throws {
    let states = try coordinator.withStoreLock {
      try coordinator.generationStores.map { (store: $0, state: try $0.makeState()) }
    }
    self.init(coordinator, states)
  }

  /// The state of a store; nil for a store that was added later, or that keeps none.
  func state(of store: NSIncrementalStore) -> AnyObject? { states.first { $0.store === store }?.state }

  /// The token itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A store that can keep its contents as they are at a moment.
package protocol GenerationStore: NSIncrementalStore {
  /// Throws 134091 if the store's database cannot keep its contents for long.
  func checkStates() throws
  /// What the store reads from for contexts that are pinned to the contents as they are now.
  func makeState() throws -> AnyObject
}

extension NSPersistentStoreCoordinator {
  var generationStores: [any GenerationStore] { stores.compactMap { $0 as? any GenerationStore } }
}
